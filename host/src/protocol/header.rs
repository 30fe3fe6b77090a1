//! The HTTP headers of Streamable HTTP (all revisions) and how the modern era encodes values in them.

use std::borrow::Cow;

/// Session of the legacy era.
pub const SESSION_ID: &str = "mcp-session-id";
/// Revision of the request; required after `initialize` since 2025-06-18.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// Method of the request; required in the modern era (SEP-2243).
pub const METHOD: &str = "mcp-method";
/// `params.name` or `params.uri`; required in the modern era for calls that have one.
pub const NAME: &str = "mcp-name";
/// Prefix of the headers that carry tool parameters annotated with `x-mcp-header`.
pub const PARAM_PREFIX: &str = "mcp-param-";
/// Where a broken stream is to be resumed (legacy).
pub const LAST_EVENT_ID: &str = "last-event-id";

const SENTINEL_START: &str = "=?base64?";
const SENTINEL_END: &str = "?=";

/// The value that a header of the modern era carries: plain, or `=?base64?...?=`. None when the encoding is broken.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    let Some(inner) =
        value.strip_prefix(SENTINEL_START).and_then(|rest| rest.strip_suffix(SENTINEL_END))
    else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = base64_decode(inner)?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// The form in which a value travels in a header: as it is where that is safe, else in base64.
pub fn encode(value: &str) -> Cow<'_, str> {
    let plain = !value.is_empty()
        && value.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && !value.starts_with(' ')
        && !value.ends_with(' ')
        && !value.starts_with(SENTINEL_START);
    if plain {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("{SENTINEL_START}{}{SENTINEL_END}", base64_encode(value.as_bytes())))
}

fn base64_decode(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

fn base64_encode(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
