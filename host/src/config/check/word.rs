//! What a name may look like.

use std::collections::BTreeMap;

use super::findings::Findings;
use crate::config::key::KeyPath;

/// Longest name of a connector, an upstream or a plugin. Names become parts of tool names, of which clients take 64
/// characters, and of URLs, metrics and log lines: half is left to the server's own name.
const LONGEST: usize = 32;

/// Checks the name of a connector, an upstream or a plugin.
pub(super) fn check_name(name: &str, what: &str, key: &KeyPath, findings: &mut Findings) -> bool {
    let fits = is_name(name);
    if !fits {
        findings.problem(
            key,
            format!("is `{name}`, which cannot be the name of {what}"),
            "use 1 to 32 letters, digits, `_` and `-`: the name stands in tool names and URLs",
        );
    }
    fits
}

/// Whether this can be the name of a connector, an upstream or a plugin.
pub fn is_name(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// What labels of a lease may be, in words.
pub const LABELS: &str = "at most 16 labels, each a name of 1 to 63 letters, digits, `.`, `_`, `-` and `/`, and a text of at most 256 characters without control characters";

/// Whether these can be the labels of a lease.
pub fn labels_fit(labels: &BTreeMap<String, String>) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    let fits = |(name, text): (&String, &String)| {
        (1..=63).contains(&name.len())
            && name.bytes().all(is_plain)
            && text.chars().count() <= 256
            && !text.chars().any(char::is_control)
    };
    labels.len() <= 16 && labels.iter().all(fits)
}

/// Whether a name can be shown to clients as the name of a tool.
pub(super) fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
