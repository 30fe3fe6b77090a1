//! One JSON-RPC message: where its interpreted fields stand in the text that was received.

use std::borrow::Cow;

use bytes::Bytes;

use super::id::Id;
use super::keys::{Keys, Known};
use super::method::Method;
use super::scan::{ScanError, Scanner, Span};

/// What a message is, by the fields it has (JSON-RPC 2.0, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `method` and `id`.
    Request,
    /// `method` without `id`.
    Notification,
    /// `result` or `error`.
    Response,
}

/// The fields below the envelope that a proxy interprets. Everything else passes unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// `params.name`: a tool or prompt.
    Name,
    /// `params.uri`: a resource.
    Uri,
    /// `params.arguments`.
    Arguments,
    /// `params._meta`.
    Meta,
    /// `params.cursor`.
    Cursor,
    /// `params.ref` of `completion/complete`.
    Ref,
    /// `params.requestId` of `notifications/cancelled`.
    RequestId,
    /// `params.protocolVersion` of `initialize`.
    ProtocolVersion,
    /// `params.capabilities` of `initialize`.
    Capabilities,
    /// `params.clientInfo` of `initialize`.
    ClientInfo,
    /// `params.progressToken` of `notifications/progress`.
    ProgressToken,
    /// `params.inputResponses` of a request that is sent again.
    InputResponses,
    /// `params.requestState` of a request that is sent again.
    RequestState,
    /// `params._meta.progressToken`.
    MetaProgressToken,
    /// `params._meta["io.modelcontextprotocol/protocolVersion"]`.
    MetaProtocolVersion,
    /// `params._meta["io.modelcontextprotocol/clientCapabilities"]`.
    MetaCapabilities,
    /// `params._meta["io.modelcontextprotocol/clientInfo"]`.
    MetaClientInfo,
    /// `params._meta["io.modelcontextprotocol/logLevel"]`.
    MetaLogLevel,
    /// `params._meta["io.modelcontextprotocol/subscriptionId"]`.
    MetaSubscriptionId,
}

const FIELDS: usize = 19;

const ENVELOPE: &[Known<Top>] = &[
    ("jsonrpc", Top::Version),
    ("id", Top::Id),
    ("method", Top::Method),
    ("params", Top::Params),
    ("result", Top::Result),
    ("error", Top::Error),
];

const PARAMS: &[Known<Field>] = &[
    ("name", Field::Name),
    ("uri", Field::Uri),
    ("arguments", Field::Arguments),
    ("_meta", Field::Meta),
    ("cursor", Field::Cursor),
    ("ref", Field::Ref),
    ("requestId", Field::RequestId),
    ("protocolVersion", Field::ProtocolVersion),
    ("capabilities", Field::Capabilities),
    ("clientInfo", Field::ClientInfo),
    ("progressToken", Field::ProgressToken),
    ("inputResponses", Field::InputResponses),
    ("requestState", Field::RequestState),
];

const META: &[Known<Field>] = &[
    ("progressToken", Field::MetaProgressToken),
    ("io.modelcontextprotocol/protocolVersion", Field::MetaProtocolVersion),
    ("io.modelcontextprotocol/clientCapabilities", Field::MetaCapabilities),
    ("io.modelcontextprotocol/clientInfo", Field::MetaClientInfo),
    ("io.modelcontextprotocol/logLevel", Field::MetaLogLevel),
    ("io.modelcontextprotocol/subscriptionId", Field::MetaSubscriptionId),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Top {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
}

/// Why a text is not one JSON-RPC message that every reader would read the same way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not UTF-8 (RFC 8259, section 8.1).
    #[error("the message is not valid UTF-8 from byte {at}")]
    Utf8 {
        /// Offset of the first byte that does not fit.
        at: usize,
    },
    /// Not JSON, or nested too deep.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// Two members of one object have the same name.
    #[error("the key {key:?} stands twice in {place}")]
    Duplicate {
        /// The beginning of the key, unescaped.
        key: String,
        /// "the message", "params" or "params._meta".
        place: &'static str,
    },
    /// A key differs from an interpreted one by case only; some servers would take it for that one.
    #[error("the key {key:?} in {place} must be written {known:?}")]
    Case {
        /// The key, unescaped.
        key: String,
        /// "the message", "params" or "params._meta".
        place: &'static str,
        /// How the key is spelled.
        known: &'static str,
    },
    /// A JSON array: JSON-RPC batches exist in revision 2025-03-26 only.
    #[error("the message is a JSON-RPC batch")]
    Batch,
    /// JSON, but not a JSON-RPC message.
    #[error("{0}")]
    Shape(&'static str),
}

/// A checked message over the bytes it came in.
#[derive(Clone, Debug)]
pub struct Message {
    text: Bytes,
    kind: Kind,
    method: Method,
    id: Option<Id>,
    spans: Spans,
}

#[derive(Clone, Debug, Default)]
struct Spans {
    top: [Span; 6],
    fields: [Span; FIELDS],
}

impl Spans {
    fn top(&self, top: Top) -> Span {
        self.top.get(top as usize).copied().unwrap_or_default()
    }

    fn set_top(&mut self, top: Top, span: Span) {
        if let Some(place) = self.top.get_mut(top as usize) {
            *place = span;
        }
    }

    fn set(&mut self, field: Field, span: Span) {
        if let Some(place) = self.fields.get_mut(field as usize) {
            *place = span;
        }
    }
}

impl Message {
    /// Parses one message. Duplicate keys in the message, in `params` and in `params._meta` are refused, and so are
    /// keys that differ from an interpreted one by case.
    pub fn parse(text: Bytes) -> Result<Self, Malformed> {
        let mut spans = Spans::default();
        {
            let text = std::str::from_utf8(&text)
                .map_err(|error| Malformed::Utf8 { at: error.valid_up_to() })?;
            let mut scanner = Scanner::new(text)?;
            match scanner.peek() {
                Some(b'{') => envelope(&mut scanner, text, &mut spans)?,
                Some(b'[') => {
                    scanner.value()?;
                    scanner.end()?;
                    return Err(Malformed::Batch);
                }
                _ => {
                    scanner.value()?;
                    scanner.end()?;
                    return Err(Malformed::Shape("a JSON-RPC message is a JSON object"));
                }
            }
            scanner.end()?;
        }
        Self::checked(text, spans)
    }

    fn checked(text: Bytes, spans: Spans) -> Result<Self, Malformed> {
        let raw = |top: Top| slice(&text, spans.top(top));
        if raw(Top::Version) != Some("\"2.0\"") {
            return Err(Malformed::Shape("the member jsonrpc must be \"2.0\""));
        }
        let id = raw(Top::Id)
            .map(|id| Id::parse(id).ok_or(Malformed::Shape("an id is a string or an integer")));
        let has_outcome = raw(Top::Result).is_some() || raw(Top::Error).is_some();
        let kind = match (raw(Top::Method), &id, has_outcome) {
            (Some(_), Some(_), false) => Kind::Request,
            (Some(_), None, false) => Kind::Notification,
            (None, _, true) => Kind::Response,
            _ => {
                return Err(Malformed::Shape(
                    "a message has either a method, or a result or an error, and not both",
                ));
            }
        };
        if kind == Kind::Response && raw(Top::Result).is_some() == raw(Top::Error).is_some() {
            return Err(Malformed::Shape("a response has either a result or an error"));
        }
        // The id of an error response may be null: the peer could not read the one it answers.
        let id = match (kind, raw(Top::Id)) {
            (Kind::Response, Some("null")) => None,
            _ => id.transpose()?,
        };
        let method = match raw(Top::Method) {
            None => Method::Other,
            Some(method) => Method::of(
                &string(method).ok_or(Malformed::Shape("the member method must be a string"))?,
            ),
        };
        if raw(Top::Params).is_some_and(|params| !params.starts_with('{')) {
            return Err(Malformed::Shape("the member params must be an object"));
        }
        Ok(Self { text, kind, method, id, spans })
    }

    /// What the message is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The text as it was received.
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// The id; none for a notification, and for a response to a message whose id could not be read.
    pub fn id(&self) -> Option<&Id> {
        self.id.as_ref()
    }

    /// Where the id stands.
    pub fn id_span(&self) -> Span {
        self.spans.top(Top::Id)
    }

    /// The method; [`Method::Other`] for a response.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The method as the sender spelled it; empty for a response.
    pub fn method_name(&self) -> Cow<'_, str> {
        self.top(Top::Method).and_then(string).unwrap_or_default()
    }

    /// Where the method stands.
    pub fn method_span(&self) -> Span {
        self.spans.top(Top::Method)
    }

    /// JSON text of `params`.
    pub fn params(&self) -> Option<&str> {
        self.top(Top::Params)
    }

    /// Where `params` stands.
    pub fn params_span(&self) -> Span {
        self.spans.top(Top::Params)
    }

    /// JSON text of `result`.
    pub fn result(&self) -> Option<&str> {
        self.top(Top::Result)
    }

    /// Where `result` stands.
    pub fn result_span(&self) -> Span {
        self.spans.top(Top::Result)
    }

    /// Where `error` stands.
    pub fn error_span(&self) -> Span {
        self.spans.top(Top::Error)
    }

    /// JSON text of `error`.
    pub fn error(&self) -> Option<&str> {
        self.top(Top::Error)
    }

    /// JSON text of an interpreted field.
    pub fn field(&self, field: Field) -> Option<&str> {
        slice(&self.text, self.span(field))
    }

    /// The text of an interpreted field that must be a string; none when it is absent or something else.
    pub fn string(&self, field: Field) -> Option<Cow<'_, str>> {
        self.field(field).and_then(string)
    }

    /// Where an interpreted field stands.
    pub fn span(&self, field: Field) -> Span {
        self.spans.fields.get(field as usize).copied().unwrap_or_default()
    }

    fn top(&self, top: Top) -> Option<&str> {
        slice(&self.text, self.spans.top(top))
    }
}

fn slice(text: &Bytes, span: Span) -> Option<&str> {
    if span.is_empty() {
        return None;
    }
    // The text was checked to be UTF-8 and spans begin and end at ASCII bytes.
    text.get(span.range()).and_then(|bytes| std::str::from_utf8(bytes).ok())
}

/// The text of a JSON string, borrowed where it holds no escape.
pub fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str::<String>(raw).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

fn envelope(scanner: &mut Scanner<'_>, text: &str, spans: &mut Spans) -> Result<(), Malformed> {
    let mut keys = Keys::new("the message", ENVELOPE);
    scanner.object(|scanner, key| {
        let Some(top) = keys.take(text, key)? else {
            scanner.value()?;
            return Ok(());
        };
        let span = if top == Top::Params && scanner.peek() == Some(b'{') {
            let start = scanner.offset();
            params(scanner, text, spans)?;
            Span::new(start, scanner.offset())
        } else {
            scanner.value()?
        };
        spans.set_top(top, span);
        Ok(())
    })
}

fn params(scanner: &mut Scanner<'_>, text: &str, spans: &mut Spans) -> Result<(), Malformed> {
    let mut keys = Keys::new("params", PARAMS);
    scanner.object(|scanner, key| {
        let Some(field) = keys.take(text, key)? else {
            scanner.value()?;
            return Ok(());
        };
        let span = if field == Field::Meta && scanner.peek() == Some(b'{') {
            let start = scanner.offset();
            meta(scanner, text, spans)?;
            Span::new(start, scanner.offset())
        } else {
            scanner.value()?
        };
        spans.set(field, span);
        Ok(())
    })
}

fn meta(scanner: &mut Scanner<'_>, text: &str, spans: &mut Spans) -> Result<(), Malformed> {
    let mut keys = Keys::new("params._meta", META);
    scanner.object(|scanner, key| {
        let known = keys.take(text, key)?;
        let span = scanner.value()?;
        if let Some(field) = known {
            spans.set(field, span);
        }
        Ok(())
    })
}
