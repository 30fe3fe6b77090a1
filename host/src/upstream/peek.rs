//! What kind of message a server sent, and its id: one pass that builds nothing.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::value::RawValue;

use crate::protocol::{Id, Kind, Span};

/// The envelope of a message, borrowed from its text.
#[derive(Debug, Deserialize)]
pub(super) struct Peek<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "present")]
    result: bool,
    #[serde(default, deserialize_with = "present")]
    error: bool,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

impl<'a> Peek<'a> {
    /// Reads the envelope; an error says where the text is not JSON.
    pub(super) fn read(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// What the message is; none when it is nothing that JSON-RPC knows.
    pub(super) fn kind(&self) -> Option<Kind> {
        match (&self.method, self.id, self.result || self.error) {
            (Some(_), Some(_), false) => Some(Kind::Request),
            (Some(_), None, false) => Some(Kind::Notification),
            (None, _, true) => Some(Kind::Response),
            _ => None,
        }
    }

    /// The method; empty for a response.
    pub(super) fn method(&self) -> &str {
        self.method.as_deref().unwrap_or_default()
    }

    /// JSON text of the id.
    pub(super) fn id(&self) -> Option<&'a str> {
        self.id.map(RawValue::get)
    }

    /// Whether this is the response to the request with that id.
    pub(super) fn answers(&self, id: &Id) -> bool {
        self.kind() == Some(Kind::Response)
            && self.id().is_some_and(|raw| {
                raw == id.as_json() || Id::parse(raw).is_some_and(|parsed| parsed == *id)
            })
    }

    /// Where the id stands in `text`, from which this was read.
    pub(super) fn id_span(&self, text: &[u8]) -> Option<Span> {
        let id = self.id()?;
        let start = (id.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        (start + id.len() <= text.len()).then(|| Span::new(start, start + id.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_kinds_and_finds_ids() {
        let text = br#"{"jsonrpc":"2.0", "id" : "a\u0062", "result":null}"#;
        let peek = Peek::read(text).unwrap();
        assert_eq!(peek.kind(), Some(Kind::Response));
        assert!(peek.answers(&Id::parse("\"ab\"").unwrap()));
        assert!(!peek.answers(&Id::parse("1").unwrap()));
        let span = peek.id_span(text).unwrap();
        assert_eq!(&text[span.range()], br#""a\u0062""#);

        let request = Peek::read(br#"{"id":1,"method":"ping"}"#).unwrap();
        assert_eq!(request.kind(), Some(Kind::Request));
        let note = Peek::read(br#"{"method":"notifications/progress","params":{}}"#).unwrap();
        assert_eq!(note.kind(), Some(Kind::Notification));
        assert!(Peek::read(b"[1]").is_err() || Peek::read(b"[1]").unwrap().kind().is_none());
        assert!(Peek::read(b"hello").is_err());
    }
}
