//! What a name may look like.

use super::findings::Findings;
use crate::config::key::KeyPath;

/// Longest name of a connector, an upstream or a plugin. Names become parts of tool names, of which clients take 64
/// characters, and of URLs, metrics and log lines: half is left to the server's own name.
const LONGEST: usize = 32;

/// Checks the name of a connector, an upstream or a plugin.
pub(super) fn check_name(name: &str, what: &str, key: &KeyPath, findings: &mut Findings) -> bool {
    let fits = (1..=LONGEST).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if !fits {
        findings.problem(
            key,
            format!("is `{name}`, which cannot be the name of {what}"),
            "use 1 to 32 letters, digits, `_` and `-`: the name stands in tool names and URLs",
        );
    }
    fits
}

/// Whether a name can be shown to clients as the name of a tool.
pub(super) fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
