//! Whether two tours were answered alike.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::tour::Step;

/// What no two answers have in common.
const TIMES: [&str; 7] = [
    "execution_time",
    "age_seconds",
    "idle_seconds",
    "elapsed_seconds",
    "created_at",
    "last_accessed",
    "timestamp",
];
/// What servers invent.
const IDS: [&str; 4] = ["session_id", "parent_session_id", "job_id", "batch_id"];
/// Who answered: the server itself, or plugway.
const WHO: &str = "io.modelcontextprotocol/serverInfo";

/// Fails with every step whose answers differ in more than ids, times and places in memory.
pub(crate) fn alike(what: &str, left: &[Step], right: &[Step]) -> Result<()> {
    ensure!(left.len() == right.len(), "{what}: {} and {} steps", left.len(), right.len());
    let (left, right) = (plain(left), plain(right));
    let pairs = left.iter().zip(&right).filter(|(left, right)| left != right);
    let differ: Vec<String> =
        pairs.map(|((step, left), (_, right))| format!("{step}\n{left}\nand\n{right}")).collect();
    ensure!(differ.is_empty(), "{what}:\n{}", differ.join("\n"));
    Ok(())
}

/// The steps without times, and with the ids numbered in the order in which they were seen.
fn plain(steps: &[Step]) -> Vec<(&'static str, Value)> {
    let mut ids = BTreeMap::new();
    let mut steps: Vec<_> =
        steps.iter().map(|(step, answer)| (*step, opened(answer.clone(), &mut ids))).collect();
    for (_, answer) in &mut steps {
        numbered(answer, &ids);
    }
    steps
}

/// Opens texts that are JSON, and takes out times.
fn opened(value: Value, ids: &mut BTreeMap<String, usize>) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(&text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => opened(inner, ids),
            _ => Value::String(placeless(&text)),
        },
        Value::Array(items) => items.into_iter().map(|item| opened(item, ids)).collect(),
        Value::Object(members) => {
            let mut kept = serde_json::Map::new();
            for (name, value) in members {
                if let (true, Value::String(id)) = (IDS.contains(&name.as_str()), &value) {
                    let next = ids.len();
                    ids.entry(id.clone()).or_insert(next);
                }
                if name != WHO {
                    let is_time = TIMES.contains(&name.as_str());
                    kept.insert(name, if is_time { Value::Null } else { opened(value, ids) });
                }
            }
            Value::Object(kept)
        }
        other => other,
    }
}

/// Without what Python tells of places in memory: `at 0x7f48886647c0`.
fn placeless(text: &str) -> String {
    let mut parts = text.split(" at 0x");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(" at 0x");
        kept.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()));
    }
    kept
}

fn numbered(value: &mut Value, ids: &BTreeMap<String, usize>) {
    match value {
        Value::String(text) => {
            for (id, number) in ids {
                if text.contains(id.as_str()) {
                    *text = text.replace(id.as_str(), &format!("<id {number}>"));
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| numbered(item, ids)),
        Value::Object(members) => members.values_mut().for_each(|value| numbered(value, ids)),
        _ => {}
    }
}
