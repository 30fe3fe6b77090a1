//! What is to be expected of an action, told by its words: annotations of the tool that does it alone.

use serde_json::Value;

use crate::object::Object;

/// Actions that begin with one of these read.
const READS: [&str; 12] = [
    "count", "describe", "fetch", "find", "get", "inspect", "list", "lookup", "read", "search",
    "show", "view",
];

/// Actions with one of these among their words do something else, too, or something else altogether.
const MORE: [&str; 20] = [
    "add", "and", "append", "apply", "create", "edit", "insert", "mark", "merge", "move", "or",
    "post", "put", "replace", "send", "set", "then", "update", "upsert", "write",
];

/// Actions with one of these among their words destroy.
const DESTROYS: [&str; 21] = [
    "archive",
    "cancel",
    "clear",
    "deactivate",
    "delete",
    "destroy",
    "disable",
    "drop",
    "erase",
    "kill",
    "overwrite",
    "prune",
    "purge",
    "remove",
    "reset",
    "revoke",
    "stop",
    "terminate",
    "truncate",
    "uninstall",
    "wipe",
];

/// JSON of the annotations: those of the whole tool, and what the action's words say. Words say that something is read only
/// where the server does not say the opposite of the whole; what it calls read-only as a whole is so in every part.
pub fn of(whole: Option<&str>, action: &str) -> String {
    let mut notes = whole.and_then(Object::parse).unwrap_or_default();
    if notes.get("readOnlyHint") == Some("true") {
        return notes.to_string();
    }
    let words = words(action);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&&**word));
    let reads = words.first().is_some_and(|word| READS.contains(&&**word));
    if any(&DESTROYS) {
        notes.set("readOnlyHint", "false");
        notes.set("destructiveHint", "true");
    } else if reads && !any(&MORE) && notes.get("readOnlyHint").is_none() {
        notes.set("readOnlyHint", "true");
        notes.set("destructiveHint", "false");
    }
    if let Some(title) = notes.text("title") {
        notes.set("title", Value::from(format!("{title}: {action}")).to_string());
    }
    notes.to_string()
}

/// The words of `deleteItem`, `delete_item`, `delete-item` and `Delete item`.
fn words(action: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in action.chars() {
        let begins = letter.is_uppercase() && was_lower;
        was_lower = letter.is_lowercase() || letter.is_numeric();
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
