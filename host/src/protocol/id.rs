//! JSON-RPC request ids: a string or an integer, kept exactly as it was written.

use std::fmt;
use std::sync::Arc;

use super::scan::{self, Span};

/// A request id as JSON text. Two ids are equal when they mean the same: `"a"` and `"\u0061"` are, `1` and `"1"` are not.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(Arc<str>);

impl Id {
    /// Takes the JSON text of an id; none when it is neither a string nor an integer.
    pub fn parse(raw: &str) -> Option<Self> {
        let first = raw.as_bytes().first()?;
        match first {
            b'"' if raw.contains('\\') => {
                let text: String = serde_json::from_str(raw).ok()?;
                Some(Self(serde_json::to_string(&text).ok()?.into()))
            }
            b'"' => {
                let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
                let plain = !inner.bytes().any(|byte| byte < 0x20 || byte == b'"');
                plain.then(|| Self(raw.into()))
            }
            _ => {
                let digits = raw.strip_prefix('-').unwrap_or(raw);
                let canonical = digits == "0" || !digits.starts_with('0');
                if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || !canonical {
                    return None;
                }
                Some(Self(if digits == "0" { digits.into() } else { raw.into() }))
            }
        }
    }

    /// The id in the text of a message that is wrong otherwise, where it can be read.
    pub fn within(message: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(message).ok()?;
        let named = |key: Span| text.get(key.range()).and_then(super::message::string);
        let members = scan::members(text)?;
        let mut ids = members.iter().filter(|(key, _)| named(*key).is_some_and(|key| key == "id"));
        match (ids.next(), ids.next()) {
            (Some((_, value)), None) => Self::parse(text.get(value.range())?),
            _ => None,
        }
    }

    /// The id of a message that plugway itself authors.
    pub fn number(value: u64) -> Self {
        Self(value.to_string().into())
    }

    /// JSON text of the id.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
