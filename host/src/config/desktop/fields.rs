//! The form of values in a desktop file.

use crate::config::check::Findings;
use crate::config::key::KeyPath;
use crate::config::tree::{Member, Node, Value};

/// The members of a map.
pub(super) fn members(node: &Node) -> Option<&[Member]> {
    match &node.value {
        Value::Map(members) => Some(members),
        _ => None,
    }
}

/// A text; numbers and words stand for themselves, `null` for nothing. The value is in no sentence: it may be a secret.
pub(super) fn text(node: &Node, key: &KeyPath, findings: &mut Findings) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Unsigned(number) => Some(number.to_string()),
        Value::Signed(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null => None,
        Value::List(_) | Value::Map(_) => {
            findings.problem(key, "must be text", "write it in quotes");
            None
        }
    }
}

/// A list of texts.
pub(super) fn texts(node: &Node, key: &KeyPath, findings: &mut Findings) -> Vec<(KeyPath, String)> {
    match &node.value {
        Value::List(items) => items
            .iter()
            .filter_map(|item| {
                let key = key.item(item.index);
                text(&item.node, &key, findings).map(|text| (key, text))
            })
            .collect(),
        Value::Null => Vec::new(),
        _ => {
            findings.problem(key, "must be a list", "write `[..]`");
            Vec::new()
        }
    }
}

/// A map of texts; `null` takes a name away.
pub(super) fn map(
    node: &Node,
    key: &KeyPath,
    findings: &mut Findings,
) -> Vec<(String, KeyPath, String)> {
    match &node.value {
        Value::Map(members) => members
            .iter()
            .filter_map(|member| {
                let key = key.key(&member.key);
                let text = text(&member.node, &key, findings)?;
                Some((member.key.clone(), key, text))
            })
            .collect(),
        Value::Null => Vec::new(),
        _ => {
            findings.problem(key, "must be a set of keys", "write `{\"NAME\": \"value\"}`");
            Vec::new()
        }
    }
}

/// True or false.
pub(super) fn flag(node: &Node, key: &KeyPath, findings: &mut Findings) -> Option<bool> {
    match &node.value {
        Value::Bool(value) => Some(*value),
        Value::Null => None,
        _ => {
            findings.problem(key, "must be true or false", "write it without quotes");
            None
        }
    }
}

/// A whole number from 1.
pub(super) fn number(node: &Node, key: &KeyPath, findings: &mut Findings) -> Option<u64> {
    match &node.value {
        Value::Unsigned(number) if *number > 0 => Some(*number),
        Value::Null => None,
        _ => {
            findings.problem(key, "must be a whole number from 1", "leave it out for the default");
            None
        }
    }
}
