//! URI templates (RFC 6570), as far as routing needs them: does a URI fit?

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
    /// Parses a template; none when it is broken, or its scheme or authority is not literal.
    pub fn parse(text: &str) -> Option<Self> {
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
        let Some(after) = rest.strip_prefix("//") else { return scheme_fits };
        scheme_fits
            && (after.is_empty() || after.contains('/') || self.parts.len() == 1)
            && !(matches!(scheme, "http" | "https" | "ws" | "wss" | "ftp" | "file")
                && after.is_empty())
    }

    /// Whether a URI could be an expansion of the template.
    pub fn fits(&self, uri: &str) -> bool {
        fits(&self.parts, uri, &mut 10_000)
    }
}

/// `budget` bounds the work that a hostile URI can cause.
fn fits(parts: &[Part], uri: &str, budget: &mut u32) -> bool {
    *budget = budget.saturating_sub(1);
    if *budget == 0 {
        return false;
    }
    match parts.split_first() {
        None => uri.is_empty(),
        Some((Part::Literal(literal), rest)) => {
            uri.strip_prefix(literal.as_str()).is_some_and(|after| fits(rest, after, budget))
        }
        Some((Part::Expression { deep }, rest)) => {
            let least = usize::from(!deep);
            let ends = uri.char_indices().map(|(at, _)| at).chain([uri.len()]);
            for end in ends.filter(|end| *end >= least) {
                let Some((value, after)) = uri.split_at_checked(end) else { continue };
                if !deep && value.contains('/') {
                    return false;
                }
                if fits(rest, after, budget) {
                    return true;
                }
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Template;

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
        ] {
            let parsed = Template::parse(template).map(|parsed| parsed.fits(uri));
            assert_eq!(parsed, Some(fits), "{template} {uri}");
        }
    }

    #[test]
    fn a_template_that_would_claim_everybodys_uris_routes_nothing() {
        for template in ["{+anything}", "{scheme}://x", "https://{host}/x", "http://{+rest}", "a{b"]
        {
            assert_eq!(Template::parse(template), None, "{template}");
        }
    }
}
