//! Whether two servers offer the same tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

/// Tools that a sentence names.
const NAMED: usize = 5;

/// Compares the tools of a server, as it lists them, with those of another one; the order makes no difference, and neither
/// does the way they are written. The error is a sentence about what differs.
pub fn same_tools(served: &[Arc<str>], other: &[Arc<str>]) -> Result<(), String> {
    let (served, other) = (by_name(served), by_name(other));
    let differs = |name: &&String| served.get(*name) != other.get(*name);
    let mut names: Vec<&String> = served.keys().chain(other.keys()).filter(differs).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Err(format!(
        "Its tools are not those that are served; these differ: {}{more}.",
        shown.join(", ")
    ))
}

fn by_name(tools: &[Arc<str>]) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for tool in tools {
        // What is no JSON is not equal to anything but itself.
        let tool = serde_json::from_str(tool).unwrap_or_else(|_none| Value::from(&**tool));
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let name: String = name.chars().take(128).collect();
        all.entry(name).or_default().push(tool);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::same_tools;

    #[test]
    fn neither_order_nor_spelling_matters_and_everything_else_does() {
        let tools = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect::<Vec<_>>();
        let served = tools(&[r#"{"name":"a","inputSchema":{"x":1,"y":2}}"#, r#"{"name":"b"}"#]);
        let same = tools(&[r#"{ "name" : "b" }"#, r#"{"inputSchema":{"y":2,"x":1},"name":"a"}"#]);
        assert_eq!(same_tools(&served, &same), Ok(()));
        for (other, named) in [
            (tools(&[r#"{"name":"b"}"#]), "\"a\"."),
            (tools(&[&*served[0], &*served[1], r#"{"name":"c"}"#]), "\"c\"."),
            (tools(&[r#"{"name":"a","inputSchema":{"x":1,"y":3}}"#, r#"{"name":"b"}"#]), "\"a\"."),
            (tools(&[&*served[0], &*served[1], &*served[1]]), "\"b\"."),
            (tools(&[]), "\"a\", \"b\"."),
        ] {
            let why = same_tools(&served, &other).unwrap_err();
            assert!(why.ends_with(named), "{why}");
        }
        let many: Vec<String> = (0..9).map(|n| format!(r#"{{"name":"n{n}"}}"#)).collect();
        let many = tools(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(same_tools(&many, &[]).unwrap_err().ends_with("\"n4\" and 4 more."));
    }
}
