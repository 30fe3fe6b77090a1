//! URI templates (RFC 6570), as far as routing needs them: does a URI fit?

/// Longest template that routes; a longer one is listed only.
const MAX_TEMPLATE: usize = 2048;
/// Longest URI that is looked for among templates.
const MAX_URI: usize = 16 * 1024;

/// A template with a literal scheme and authority; others would claim URIs of anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// An expression; `deep` ones may hold slashes.
    Expression {
        deep: bool,
    },
}

impl Template {
    /// Parses a template; none when it is broken or too long, or its scheme or authority is not literal.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_TEMPLATE {
            return None;
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            let (expression, after) = after.split_once('}')?;
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            let deep = expression.starts_with(['+', '#', '/', '?', '&', '.', ';'])
                || expression.ends_with('*');
            parts.push(Part::Expression { deep });
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        let template = Self { parts };
        template.has_literal_authority().then_some(template)
    }

    fn has_literal_authority(&self) -> bool {
        let Some(Part::Literal(first)) = self.parts.first() else { return false };
        let Some((scheme, rest)) = first.split_once(':') else { return false };
        let scheme_fits = !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        // `scheme://authority/...`: the authority must end within the literal. `scheme:path` has none.
        // `scheme://{id}` is common for schemes of a server's own; there the scheme stands for the server.
        let shared = ["http", "https", "ws", "wss", "ftp", "file"];
        let shared = shared.iter().any(|known| known.eq_ignore_ascii_case(scheme));
        let Some(after) = rest.strip_prefix("//") else { return scheme_fits && !shared };
        scheme_fits
            && (after.is_empty() || after.contains('/') || self.parts.len() == 1)
            && !(shared && after.is_empty())
    }

    /// Whether a URI could be an expansion of the template.
    pub fn fits(&self, uri: &str) -> bool {
        // The first part is a literal: most templates are done with here.
        let literal = match self.parts.first() {
            Some(Part::Literal(literal)) => literal.as_str(),
            _ => "",
        };
        if uri.len() > MAX_URI || !uri.starts_with(literal) {
            return false;
        }
        let mut reached = vec![false; uri.len() + 1];
        if let Some(start) = reached.first_mut() {
            *start = true;
        }
        for part in &self.parts {
            reached = part.reach(uri.as_bytes(), &reached);
        }
        reached.last() == Some(&true)
    }
}

impl Part {
    /// Where in the URI the part can end if it begins at one of the places in `from`. The work is bounded by the
    /// lengths of the URI and of the part.
    fn reach(&self, uri: &[u8], from: &[bool]) -> Vec<bool> {
        let mut reached = vec![false; from.len()];
        match self {
            Self::Literal(literal) => {
                let starts = from.iter().enumerate().filter(|(_, starts)| **starts);
                for (at, _) in starts {
                    let after = uri.get(at..).unwrap_or_default();
                    if after.starts_with(literal.as_bytes())
                        && let Some(end) = reached.get_mut(at + literal.len())
                    {
                        *end = true;
                    }
                }
            }
            Self::Expression { deep } => {
                // Whether an expression that began earlier goes on up to here.
                let mut open = false;
                for (at, (end, starts)) in reached.iter_mut().zip(from).enumerate() {
                    let before = at.checked_sub(1).and_then(|before| uri.get(before));
                    open &= *deep || before != Some(&b'/');
                    *end = open || (*deep && *starts);
                    open |= *starts;
                }
            }
        }
        reached
    }
}

/// Whether a template is a part of another one, by its text: all that it holds fits the other one, but not the other way
/// round.
pub fn is_narrower(template: &str, than: &str) -> bool {
    let fits =
        |outer: &str, inner: &str| Template::parse(outer).is_some_and(|outer| outer.fits(inner));
    fits(than, template) && !fits(template, than)
}

#[cfg(test)]
mod tests {
    use super::{Template, is_narrower};

    #[test]
    fn a_template_with_more_of_its_text_fixed_is_narrower() {
        for (one, other, narrower) in [
            ("notes://public/{x}", "notes://{+path}", true),
            ("notes://public/{name}", "notes://{folder}/{name}", true),
            ("notes://{+path}", "notes://secret/{x}", false),
            ("notes://{a}", "notes://{b}", false),
            ("notes://{x}/a", "notes://b/{x}", false),
        ] {
            assert_eq!(is_narrower(one, other), narrower, "{one} {other}");
        }
    }

    #[test]
    fn a_uri_fits_the_template_it_was_expanded_from() {
        for (template, uri, fits) in [
            ("demo://resource/dynamic/text/{id}", "demo://resource/dynamic/text/7", true),
            ("demo://resource/dynamic/text/{id}", "demo://resource/dynamic/text/7/8", false),
            ("demo://resource/dynamic/text/{id}", "demo://resource/dynamic/text/", false),
            ("file:///srv/{+path}", "file:///srv/a/b.txt", true),
            ("note://{id}", "note://12", true),
            ("test://a/{x}/b/{y}", "test://a/1/b/2", true),
            ("test://a/{x}/b/{y}", "test://a/1/c/2", false),
            ("git://{+path}/{id}", "git://a/b/c", true),
            ("git://{+path}/{id}", "git://a/b/", false),
            ("git://{a}x{b}", "git://1xx2", true),
            ("git://{a}x{b}", "git://x2", false),
            ("mail:{who}", "mail:é@x", true),
            ("mail:{who}{?q}", "mail:a", true),
        ] {
            let parsed = Template::parse(template).map(|parsed| parsed.fits(uri));
            assert_eq!(parsed, Some(fits), "{template} {uri}");
        }
    }

    #[test]
    fn long_uris_and_many_expressions_cost_little() {
        let many = format!("a:{}", "{x}b".repeat(500));
        let template = Template::parse(&many).unwrap();
        assert!(!template.fits(&format!("a:{}", "b".repeat(16_000) + "c")));
        assert!(!template.fits(&format!("a:{}", "b".repeat(4_000_000))));
        assert!(template.fits(&format!("a:{}", "xb".repeat(500))));
        assert_eq!(Template::parse(&format!("a:{}", "{x}".repeat(1000))), None);
    }

    #[test]
    fn a_template_that_would_claim_everybodys_uris_routes_nothing() {
        for template in ["{+anything}", "{scheme}://x", "https://{host}/x", "http://{+rest}", "a{b"]
            .into_iter()
            .chain(["http:{+rest}", "HTTPS://{host}/x", "https:/{+rest}", "https://a{+rest}"])
        {
            assert_eq!(Template::parse(template), None, "{template}");
        }
    }
}
