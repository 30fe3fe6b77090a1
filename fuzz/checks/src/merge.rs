//! Merging, against RFC 7396 over values.

use plugway::protocol::Document;
use plugway::protocol::merge::merge;
use plugway::protocol::scan::members;
use serde_json::{Map, Value};

use crate::SEPARATOR;

/// A target, then a patch.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (target, patch) = text.split_once(SEPARATOR).unwrap_or((text, "{}"));
    let sound = |text: &str| Document::parse(text).is_ok() && members(text).is_some();
    let merged = merge(target, patch);
    assert_eq!(merged.is_ok(), sound(target) && sound(patch), "{merged:?}");
    let Ok(merged) = merged else { return };
    untouched(target, patch, &merged);
    let (Ok(target), Ok(patch)) = (serde_json::from_str(target), serde_json::from_str(patch))
    else {
        return;
    };
    assert_eq!(serde_json::from_str::<Value>(&merged).ok(), Some(reference(target, &patch)));
}

/// The algorithm of RFC 7396, section 2.
fn reference(target: Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut object = match target {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    for (key, change) in patch {
        if change.is_null() {
            object.remove(key);
        } else {
            let old = object.remove(key).unwrap_or_default();
            object.insert(key.clone(), reference(old, change));
        }
    }
    Value::Object(object)
}

/// Members that the patch does not name keep their bytes.
fn untouched(target: &str, patch: &str, merged: &str) {
    let keys = |text: &str| {
        let parts = members(text).unwrap_or_default();
        let key = |span: plugway::protocol::Span| {
            let raw = text.get(span.range()).unwrap_or_default();
            serde_json::from_str::<String>(raw).unwrap_or_default()
        };
        parts.into_iter().map(|(name, value)| (key(name), name, value)).collect::<Vec<_>>()
    };
    let patched = keys(patch);
    for (key, name, value) in keys(target) {
        if patched.iter().all(|(known, ..)| *known != key) {
            let kept = target.get(name.range().start..value.range().end).unwrap_or_default();
            assert!(merged.contains(kept), "{kept} is kept in {merged}");
        }
    }
}
