//! POST: one message of a client.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, header};
use http_body::Body;
use tracing::Instrument as _;

use super::reply::{Asked, Reply};
use super::site::{Endpoint, Site};
use super::visitor::Visitor;
use super::{batch, body, headers, legacy, modern};
use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;
use crate::protocol::{Era, Field, Id, Kind, Malformed, Message, Method, Revision};
use crate::telemetry::Outcome;

/// Takes a message and answers it.
pub async fn post<B>(
    site: &Arc<Site>,
    endpoint: &Endpoint,
    (head, query): (HeaderMap, Option<&str>),
    body: B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let request_id = RequestId::next();
    let checked = match Visitor::identify(site, endpoint, &head).await {
        Ok(visitor) => {
            let visitor = visitor.asking(&head, query);
            checked_body(site, &head, body).await.map(|text| (visitor, text))
        }
        Err(fault) => Err(fault),
    };
    let (visitor, text) = match checked {
        Ok(checked) => checked,
        Err(fault) => return site.refuse(&fault, Asked::unknown(request_id)),
    };
    let message = match Message::parse(text.clone()) {
        Ok(message) => message,
        Err(Malformed::Batch) => return batch::serve(site, &visitor, head, text).await,
        Err(error) => {
            let id = Id::within(&text);
            let asked = Asked { id: id.as_ref(), ..Asked::unknown(request_id) };
            return site.refuse(&malformed(&error), asked);
        }
    };
    serve(site, &visitor, head, message, request_id).await
}

/// Answers one message.
pub(super) async fn serve(
    site: &Arc<Site>,
    visitor: &Visitor<'_>,
    head: HeaderMap,
    message: Message,
    request_id: RequestId,
) -> Reply {
    let start = Instant::now();
    let _in_progress = site.counts.serving.hold();
    let id = message.id().cloned();
    let method = message.method();
    let era = era(&head, &message);
    // Costs nothing unless lines of this level are wanted; those of higher levels name the request themselves.
    let span = tracing::debug_span!("request", %request_id);
    let served = match era {
        Ok(Era::Modern) => {
            modern::serve(site, visitor, head, message, request_id).instrument(span).await
        }
        Ok(Era::Legacy) => {
            legacy::serve(site, visitor, head, message, request_id).instrument(span).await
        }
        Err(ref fault) => {
            let asked = Asked { request_id, era: Era::Modern, method, id: id.as_ref() };
            return site.refuse(fault, asked);
        }
    };
    let outcome = if served.is_ok() { Outcome::Answered } else { Outcome::Failed };
    site.counts.request(method, outcome, start.elapsed());
    served.unwrap_or_else(|fault| {
        let era = era.unwrap_or(Era::Modern);
        site.refuse(&fault, Asked { request_id, era, method, id: id.as_ref() })
    })
}

async fn checked_body<B>(site: &Site, head: &HeaderMap, body: B) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    headers::check_accept(head, &["application/json", "text/event-stream"])?;
    message(site, head, body).await
}

/// The text of one message.
pub(super) async fn message<B>(site: &Site, head: &HeaderMap, body: B) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    headers::check_content_type(head)?;
    if head.contains_key(header::CONTENT_ENCODING) {
        let text = "A message must not be compressed: send it without a content encoding.";
        return Err(Fault::new(Code::UnsupportedMediaType, text));
    }
    body::read(body, &site.bounds).await
}

/// What is wrong with the text of a message.
pub(super) fn malformed(error: &Malformed) -> Fault {
    let code = match error {
        Malformed::Utf8 { .. } | Malformed::Scan(_) => Code::ParseError,
        _ => Code::InvalidRequest,
    };
    let text = error.to_string();
    let mut sentence = text.chars();
    let first = sentence.next().map_or_else(String::new, |first| first.to_uppercase().to_string());
    Fault::new(code, format!("{first}{}.", sentence.as_str()))
}

/// The era of a message: what its `_meta` says, else its header (MCP 2026-07-28, "Era negotiation").
fn era(head: &HeaderMap, message: &Message) -> Result<Era, Fault> {
    let stated = message.field(Field::MetaProtocolVersion);
    if stated.is_some() {
        return Ok(Era::Modern);
    }
    let header = headers::get(head, &headers::PROTOCOL_VERSION)?;
    match header.map(Revision::parse) {
        Some(Some(revision)) => Ok(revision.era()),
        // `initialize` negotiates in its body, whatever the header says.
        _ if message.method() == Method::Initialize => Ok(Era::Legacy),
        None => Ok(Era::Legacy),
        Some(None) if message.kind() == Kind::Request => {
            Err(unsupported(header.unwrap_or_default()))
        }
        Some(None) => Err(unspoken()),
    }
}

/// The header of a request that has no body to say it in names a revision of ours, if it names any.
pub(super) fn check_revision(head: &HeaderMap) -> Result<(), Fault> {
    let named = headers::get(head, &headers::PROTOCOL_VERSION)?;
    if named.is_some_and(|named| Revision::parse(named).is_none()) {
        return Err(unspoken());
    }
    Ok(())
}

fn unspoken() -> Fault {
    let text = "The header MCP-Protocol-Version names a revision that this server does not speak.";
    Fault::new(Code::UnsupportedVersion, text)
}

/// The revision is not one of ours (SEP-2575: `data.supported`, `data.requested`).
pub(super) fn unsupported(requested: &str) -> Fault {
    let requested: String = requested.chars().take(64).collect();
    let supported: Vec<&str> = Revision::ALL.into_iter().map(Revision::as_str).collect();
    let text = format!("The protocol version {requested:?} is not supported.");
    let data = serde_json::json!({ "supported": supported, "requested": requested });
    Fault::new(Code::UnsupportedVersion, text).with_data(data.to_string())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;

    use super::{era, malformed};
    use crate::fault::Code;
    use crate::protocol::{Era, Message};

    fn message(method: &str, id: bool, meta: Option<&str>) -> Message {
        let id = if id { r#""id":1,"# } else { "" };
        let params = meta.map_or_else(String::new, |version| {
            format!(
                r#","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":{version}}}}}"#
            )
        });
        let text = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}"{params}}}"#);
        Message::parse(Bytes::from(text)).unwrap()
    }

    fn of(header: Option<&'static str>, message: &Message) -> Result<Era, Code> {
        let mut head = HeaderMap::new();
        if let Some(header) = header {
            head.insert("mcp-protocol-version", header.parse().unwrap());
        }
        era(&head, message).map_err(|fault| fault.code())
    }

    #[test]
    fn the_body_decides_before_the_header() {
        let modern = Some(r#""2026-07-28""#);
        for (header, method, meta, expected) in [
            (None, "tools/list", None, Ok(Era::Legacy)),
            (Some("2025-03-26"), "tools/list", None, Ok(Era::Legacy)),
            (Some("2025-11-25"), "tools/list", None, Ok(Era::Legacy)),
            (Some("2026-07-28"), "tools/list", None, Ok(Era::Modern)),
            (None, "tools/list", modern, Ok(Era::Modern)),
            (Some("2025-06-18"), "tools/list", modern, Ok(Era::Modern)),
            (Some("1999-01-01"), "tools/list", modern, Ok(Era::Modern)),
            (None, "tools/list", Some("5"), Ok(Era::Modern)),
            (Some("1999-01-01"), "tools/list", None, Err(Code::UnsupportedVersion)),
            (Some("1999-01-01"), "initialize", None, Ok(Era::Legacy)),
            (Some(""), "tools/list", None, Err(Code::UnsupportedVersion)),
        ] {
            for id in [true, false] {
                let message = message(method, id, meta);
                assert_eq!(of(header, &message), expected, "{header:?} {method} {meta:?} {id}");
            }
        }
    }

    #[test]
    fn what_is_no_message_is_said_in_a_short_sentence() {
        let long = "k".repeat(100_000);
        for (text, code) in [
            ("{".to_owned(), Code::ParseError),
            ("[".repeat(500), Code::ParseError),
            ("1".to_owned(), Code::InvalidRequest),
            (r#"{"jsonrpc":"2.0","method":"m","id":1.5}"#.to_owned(), Code::InvalidRequest),
            (format!(r#"{{"{long}":1,"{long}":2}}"#), Code::InvalidRequest),
            (r#"{"Method":"m"}"#.to_owned(), Code::InvalidRequest),
        ] {
            let fault = malformed(&Message::parse(Bytes::from(text)).unwrap_err());
            assert_eq!(fault.code(), code);
            assert!(fault.public().len() < 300 && fault.public().ends_with('.'), "{fault}");
        }
        let fault = malformed(&Message::parse(Bytes::from_static(b"\xff")).unwrap_err());
        assert_eq!(fault.code(), Code::ParseError);
    }
}
