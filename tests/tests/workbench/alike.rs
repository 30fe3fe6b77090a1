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

/// Fails at the first step whose answers differ in more than ids and times.
pub(crate) fn alike(what: &str, left: &[Step], right: &[Step]) -> Result<()> {
    ensure!(left.len() == right.len(), "{what}: {} and {} steps", left.len(), right.len());
    let (left, right) = (plain(left), plain(right));
    for ((step, left), (_, right)) in left.iter().zip(&right) {
        ensure!(left == right, "{what}: {step}\n{left}\nand\n{right}");
    }
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
            _ => Value::String(text),
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
