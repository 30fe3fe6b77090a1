//! URI templates, against a slow and plain matcher.

use plugway::catalogue::uri::Template;

use crate::SEPARATOR;

/// A template, then a URI.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (text, uri) = text.split_once(SEPARATOR).unwrap_or((text, ""));
    let Some(template) = Template::parse(text) else { return };
    let fits = template.fits(uri);
    assert!(!fits || text.split('{').next().is_some_and(|first| uri.starts_with(first)));
    if text.len() <= 48 && uri.len() <= 24 {
        assert_eq!(fits, reference(text, uri), "{text} {uri}");
    }
    expansion(text, &template);
}

fn reference(template: &str, uri: &str) -> bool {
    let Some(first) = template.chars().next() else { return uri.is_empty() };
    let Some(inside) = template.strip_prefix('{') else {
        let after = template.get(first.len_utf8()..).unwrap_or_default();
        return uri.strip_prefix(first).is_some_and(|uri| reference(after, uri));
    };
    let (expression, after) = inside.split_once('}').unwrap_or((inside, ""));
    let deep =
        expression.starts_with(['+', '#', '/', '?', '&', '.', ';']) || expression.ends_with('*');
    let ends = uri.char_indices().map(|(at, _)| at).chain([uri.len()]);
    ends.filter_map(|end| uri.split_at_checked(end)).any(|(value, rest)| {
        (deep || (!value.is_empty() && !value.contains('/'))) && reference(after, rest)
    })
}

/// What a template expands to fits it.
fn expansion(text: &str, template: &Template) {
    let mut uri = String::new();
    let mut parts = text.split('{');
    uri.push_str(parts.next().unwrap_or_default());
    for part in parts {
        uri.push_str("v-1");
        uri.push_str(part.split_once('}').map_or("", |(_, literal)| literal));
    }
    assert!(template.fits(&uri), "{text} {uri}");
}
