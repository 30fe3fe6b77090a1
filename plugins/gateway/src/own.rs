//! What a connector offers of its own, by the bundled router: ways to find things, which show a caller no more than it may
//! use. An allow-list is about what servers offer, and leaves these; they count as harmless.

/// The tools of lazy discovery.
const LAZY: [&str; 4] = ["find_tools", "load_tools", "unload_tools", "call_tool"];

/// Whether a local entry of this name, or URI, is one of those.
pub fn is(name: &str, connector: &str) -> bool {
    if let Some(rest) = name.strip_prefix("plugway://") {
        let of = rest.strip_prefix(connector).and_then(|rest| rest.strip_prefix('/'));
        return matches!(of, Some("status" | "catalog"));
    }
    if LAZY.contains(&name) {
        return true;
    }
    let within = |before: &str, after: &str| {
        let middle = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        middle.is_some_and(|middle| is_cleaned(connector, middle))
    };
    within("", "_status")
        || within("search_", "_tools")
        || within("plan_", "_workflow")
        || within("load_", "_skill")
}

/// Names of tools hold letters, digits, `_` and `-`; any other character of the connector's name is `_` there.
fn is_cleaned(connector: &str, cleaned: &str) -> bool {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    connector.chars().map(plain).eq(cleaned.chars())
}

#[cfg(test)]
mod tests {
    use super::is;

    #[test]
    fn own_things_are_known_by_the_connectors_name() {
        for name in [
            "a_b_status",
            "search_a_b_tools",
            "plan_a_b_workflow",
            "load_a_b_skill",
            "call_tool",
            "plugway://a.b/status",
            "plugway://a.b/catalog",
        ] {
            assert!(is(name, "a.b"), "{name}");
        }
        for name in
            ["c_status", "status", "search_tools", "plugway://a.b/other", "plugway://c/status", ""]
        {
            assert!(!is(name, "a.b"), "{name}");
        }
    }
}
