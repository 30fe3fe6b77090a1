//! Documents and pointers into them.

use plugway::protocol::Document;
use plugway::protocol::scan::MAX_DEPTH;
use serde_json::Value;

use crate::SEPARATOR;
use crate::json::{Unique, depth, is_json, reads};

/// A document, then a pointer.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (text, pointer) = text.split_once(SEPARATOR).unwrap_or((text, ""));
    let document = Document::parse(text);
    let is_sound = is_json(text) && depth(text) <= MAX_DEPTH as usize;
    match reads::<Unique>(text).filter(|_| is_sound) {
        Some(unique) => assert_eq!(document.is_ok(), unique, "{document:?}"),
        None => assert!(is_sound || document.is_err()),
    }
    let Ok(document) = document else { return };
    assert_eq!(document.pointer("").as_deref(), Some(text.trim_ascii()));
    if let Some(found) = document.pointer(pointer) {
        assert!(text.contains(&found), "the very text");
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    if !pointer.contains('~') {
        same(document.pointer(pointer), value.pointer(pointer));
    }
    let mut budget = 64;
    walk(&document, &value, "", &mut budget);
}

/// Every path leads to the same value.
fn walk(document: &Document, value: &Value, path: &str, budget: &mut u32) {
    if *budget == 0 {
        return;
    }
    *budget -= 1;
    same(document.pointer(path), Some(value));
    match value {
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                walk(document, item, &format!("{path}/{place}"), budget);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let token = key.replace('~', "~0").replace('/', "~1");
                walk(document, member, &format!("{path}/{token}"), budget);
            }
        }
        _ => {}
    }
}

fn same(found: Option<String>, expected: Option<&Value>) {
    let found = found.map(|text| serde_json::from_str::<Value>(&text).unwrap_or_default());
    assert_eq!(found.as_ref(), expected);
}
