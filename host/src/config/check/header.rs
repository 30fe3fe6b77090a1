//! Names of headers: which ones an operator may hand to whom.

use http::HeaderName;

use super::findings::Findings;
use crate::config::key::KeyPath;

/// Headers that no plugin reads or sets: credentials.
const CREDENTIALS: &[&str] = &["authorization", "proxy-authorization", "cookie", "set-cookie"];
/// Headers that belong to the protocol or to the connection: plugway sets them itself.
const OWN: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "content-type",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "keep-alive",
    "accept",
    "origin",
    "last-event-id",
];
/// More of them that an operator does not set either.
const HOP_BY_HOP: &[&str] = &[
    "accept-encoding",
    "content-encoding",
    "expect",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
];

/// What somebody wants a header for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A plugin reads it.
    ByPluginToRead,
    /// A plugin sets or removes it.
    ByPluginToSet,
    /// The operator sends it to an upstream.
    ForUpstream,
}

/// The name, if it may be had.
pub(super) fn check(
    name: &str,
    wanted: Wanted,
    key: &KeyPath,
    findings: &mut Findings,
) -> Option<HeaderName> {
    let Ok(header) = HeaderName::try_from(name) else {
        let hint = "write a name such as `x-team`";
        findings.problem(key, format!("is `{name}`, which is no header name"), hint);
        return None;
    };
    let word = header.as_str();
    if wanted != Wanted::ForUpstream && CREDENTIALS.contains(&word) {
        let hint = "plugins see who the caller is through `caller`, never a credential";
        findings.problem(key, format!("is `{word}`, which no plugin gets"), hint);
        return None;
    }
    if is_own(word, wanted) {
        let hint = "the protocol and the connection keep their own headers";
        findings.problem(key, format!("is `{word}`, which belongs to plugway"), hint);
        return None;
    }
    Some(header)
}

/// Whether an operator may not send this header to an upstream.
pub(in crate::config) fn belongs_to_plugway(name: &str) -> bool {
    is_own(&name.to_ascii_lowercase(), Wanted::ForUpstream)
}

/// Session ids are nobody's. A plugin may read what it may not set.
fn is_own(word: &str, wanted: Wanted) -> bool {
    let is_set = word.starts_with("mcp-") || OWN.contains(&word);
    match wanted {
        Wanted::ByPluginToRead => word.starts_with("mcp-session"),
        Wanted::ByPluginToSet => is_set,
        Wanted::ForUpstream => is_set || HOP_BY_HOP.contains(&word),
    }
}
