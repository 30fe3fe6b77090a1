//! What an address means in the reference's forms: the base, to which its connectors add `/mcp`.

/// The address as plugway takes it. One without a path stays: there plugway tries both. One that ends in `/mcp` already
/// fails at the reference and is taken as it was meant.
pub(super) fn endpoint(base: &str) -> String {
    let bare = base.trim().trim_end_matches('/');
    let path = bare.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    match path {
        // A query would end up in the middle.
        Some((_, path)) if !bare.ends_with("/mcp") && !path.contains(['?', '#']) => {
            [bare, "/mcp"].concat()
        }
        _ => bare.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::endpoint;

    #[test]
    fn a_base_becomes_an_endpoint() {
        for (base, wanted) in [
            ("http://chem:8000", "http://chem:8000"),
            ("http://chem:8000/", "http://chem:8000"),
            (" http://chem:8000 ", "http://chem:8000"),
            ("http://chem:8000/mcp", "http://chem:8000/mcp"),
            ("http://chem:8000/mcp/", "http://chem:8000/mcp"),
            ("https://tools.example.com/gis/", "https://tools.example.com/gis/mcp"),
            ("http://chem:8000/x?key=a", "http://chem:8000/x?key=a"),
            ("chem:8000", "chem:8000"),
        ] {
            assert_eq!(endpoint(base), wanted, "{base}");
        }
    }
}
