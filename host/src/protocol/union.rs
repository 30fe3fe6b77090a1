//! The union of JSON objects over text: what only one of them has keeps its bytes.

use std::borrow::Cow;

use indexmap::IndexMap;

use super::message::string;
use super::scan;

/// JSON text of `one` with what only `other` has added to it. Objects are united member by member, of two booleans the
/// true one stays, and of everything else that both have, `one`'s.
pub fn union(one: &str, other: &str) -> String {
    let mut out = String::with_capacity(one.len() + other.len());
    value(&mut out, one, other);
    out
}

/// JSON text of an object without the member that the path leads to.
pub fn without(object: &str, path: &[&str]) -> String {
    let (Some((name, rest)), Some(members)) = (path.split_first(), members(object)) else {
        return object.to_owned();
    };
    let mut out = String::with_capacity(object.len());
    let mut separator = '{';
    for (own, (key, value)) in members {
        if own == *name && rest.is_empty() {
            continue;
        }
        member(&mut out, &mut separator, key);
        if own == *name { out.push_str(&without(value, rest)) } else { out.push_str(value) }
    }
    out.push_str(end(separator));
    out
}

/// Members by their names, each with its key and its value as they are written; of two with one name the first counts.
type Members<'a> = IndexMap<Cow<'a, str>, (&'a str, &'a str)>;

fn members(object: &str) -> Option<Members<'_>> {
    let mut members = Members::new();
    for (key, value) in scan::members(object)? {
        let (key, value) = (object.get(key.range())?, object.get(value.range())?);
        members.entry(string(key)?).or_insert((key, value));
    }
    Some(members)
}

fn value(out: &mut String, one: &str, other: &str) {
    let (Some(own), Some(mut theirs)) = (members(one), members(other)) else {
        return out.push_str(if one == "false" && other == "true" { other } else { one });
    };
    let mut separator = '{';
    for (name, (key, own)) in own {
        member(out, &mut separator, key);
        match theirs.shift_remove(&name) {
            Some((_, theirs)) => value(out, own, theirs),
            None => out.push_str(own),
        }
    }
    for (key, theirs) in theirs.into_values() {
        member(out, &mut separator, key);
        out.push_str(theirs);
    }
    out.push_str(end(separator));
}

fn member(out: &mut String, separator: &mut char, key: &str) {
    out.push(*separator);
    *separator = ',';
    out.push_str(key);
    out.push(':');
}

fn end(separator: char) -> &'static str {
    if separator == '{' { "{}" } else { "}" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    #[test]
    fn objects_are_united_and_everything_else_keeps_its_bytes() {
        for (one, other, expected) in [
            ("{}", "{ }", "{}"),
            (r#"{"a":{}}"#, r#"{"b":{ "x" : 1.0 }}"#, r#"{"a":{},"b":{ "x" : 1.0 }}"#),
            (r#"{"a":{"l":false}}"#, r#"{"\u0061":{"l":true}}"#, r#"{"a":{"l":true}}"#),
            (r#"{"a":{"l":true}}"#, r#"{"a":{"l":false,"m":[1]}}"#, r#"{"a":{"l":true,"m":[1]}}"#),
            (r#"{"a":1e2}"#, r#"{"a":100}"#, r#"{"a":1e2}"#),
            (r#"{"a":{}}"#, r#"{"a":true}"#, r#"{"a":{}}"#),
            (r#"{"a":1}"#, "[]", r#"{"a":1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"b":1,"b":2}"#, r#"{"a":1,"b":1}"#),
        ] {
            assert_eq!(union(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_member_is_taken_out_wherever_it_stands() {
        let object = r#"{"a":{"b":1,"c":{ }},"b":2}"#;
        assert_eq!(without(object, &["b"]), r#"{"a":{"b":1,"c":{ }}}"#);
        assert_eq!(without(object, &["a", "b"]), r#"{"a":{"c":{ }},"b":2}"#);
        assert_eq!(without(r#"{"a":1}"#, &["a"]), "{}");
        for path in [&["x"][..], &["b", "x"], &["a", "b", "x"]] {
            assert_eq!(without(object, path), object, "{path:?}");
        }
        assert_eq!(without("[1]", &["a"]), "[1]");
    }

    fn object() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![any::<bool>().prop_map(Value::from), (0..3_u8).prop_map(Value::from)];
        let value = leaf.prop_recursive(3, 24, 4, |inner| {
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect()))
        });
        prop::collection::btree_map("[abc]", value, 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    }

    fn expected(one: &Value, other: &Value) -> Value {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                let mut united: Map<String, Value> = other.clone();
                for (name, value) in one {
                    let value = other.get(name).map_or(value.clone(), |more| expected(value, more));
                    united.insert(name.clone(), value);
                }
                Value::Object(united)
            }
            (Value::Bool(one), Value::Bool(other)) => Value::Bool(*one || *other),
            _ => one.clone(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_union_is_what_the_rules_say(one in object(), other in object()) {
            let united = union(&one.to_string(), &other.to_string());
            let united: Value = serde_json::from_str(&united).unwrap();
            prop_assert_eq!(united, expected(&one, &other));
        }
    }
}
