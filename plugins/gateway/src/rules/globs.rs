//! The names of tools that rules were written with, for people who check them.

use serde_json::Value;

use super::write::DEPTH_MAX;

/// The globs of each `tool` in the conditions of these rules, under the path where it stands. What is no rule has none: it is
/// refused elsewhere.
pub fn tool_globs(rules: &Value) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for (at, rule) in rules.as_array().into_iter().flatten().enumerate() {
        if let Some(when) = rule.get("when") {
            of_conditions(when, &format!("rules[{at}].when"), DEPTH_MAX, &mut found);
        }
    }
    found
}

fn of_conditions(when: &Value, path: &str, depth: u32, found: &mut Vec<(String, Vec<String>)>) {
    for (key, value) in when.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        match key.as_str() {
            "tool" => {
                let globs = each(value).filter_map(|(_, glob)| Some(glob.as_str()?.to_owned()));
                found.push((path, globs.collect()));
            }
            "all" | "not" if depth > 0 => {
                for (at, nested) in each(value) {
                    let path = at.map_or_else(|| path.clone(), |at| format!("{path}[{at}]"));
                    of_conditions(nested, &path, depth - 1, found);
                }
            }
            _ => {}
        }
    }
}

/// The items of a list with their places; one that is no list counts as a list of itself.
fn each(value: &Value) -> impl Iterator<Item = (Option<usize>, &Value)> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let one = (!value.is_array()).then_some((None, value));
    items.iter().enumerate().map(|(at, item)| (Some(at), item)).chain(one)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::tool_globs;

    #[test]
    fn every_name_is_found_where_it_stands() {
        let rules = json!([
            {"do": "deny", "when": {"tool": "a*", "scope": "tool"}},
            {"do": "deny"},
            {"do": "deny", "when": {"not": {"tool": ["b", "c"]}, "all": [{"kind": "tool"}, {"not": [{"tool": "d"}]}]}},
        ]);
        let expected = [
            ("rules[0].when.tool", vec!["a*"]),
            ("rules[2].when.not.tool", vec!["b", "c"]),
            ("rules[2].when.all[1].not[0].tool", vec!["d"]),
        ];
        let expected = expected.map(|(path, globs)| {
            (path.to_owned(), globs.into_iter().map(str::to_owned).collect::<Vec<_>>())
        });
        assert_eq!(tool_globs(&rules), expected);
        assert!(tool_globs(&json!(null)).is_empty() && tool_globs(&json!([7])).is_empty());
    }
}
