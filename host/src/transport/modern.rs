//! Messages of the modern era: each carries its whole context.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;

use super::reply::{self, Asked, Reply};
use super::site::Site;
use super::stream::counted;
use super::visitor::Visitor;
use super::{form, handover, headers, post};
use crate::fault::{Code, Fault};
use crate::pipeline::port::Answer;
use crate::pipeline::{self, Caller, Flight, Request, RequestId, dispatch};
use crate::protocol::feature::{Home, TASKS};
use crate::protocol::{Era, Field, Kind, Message, Method, Revision, header as mcp, message, scan};
use crate::session::PartyGuard;

/// Answers one message.
pub(super) async fn serve(
    site: &Arc<Site>,
    visitor: &Visitor<'_>,
    head: HeaderMap,
    message: Message,
    request_id: RequestId,
) -> Result<Reply, Fault> {
    if message.kind() == Kind::Response {
        let text = "Revision 2026-07-28 has no responses of clients.";
        return Err(Fault::new(Code::InvalidRequest, text));
    }
    check_version(&head, &message)?;
    let id = match (message.kind(), message.id().cloned()) {
        (Kind::Request, Some(id)) => id,
        // Cancelling is closing the stream: there is nothing to do for that.
        (Kind::Notification, _) => {
            Box::pin(tell(site, visitor, head, message, request_id)).await?;
            return Ok(reply::empty(false));
        }
        _ => return Err(Fault::new(Code::InvalidRequest, "A request needs an id.")),
    };
    check_routing_headers(&head, &message)?;
    let method = message.method();
    let asked = Asked { request_id, era: Era::Modern, method, id: Some(&id) };
    let events = form::prefers_events(&head);
    let answered = ask(site, visitor, head, message, request_id).await?;
    let answered = form::of(counted(answered, &site.counts), events);
    let subscribed = method == Method::SubscriptionsListen;
    let credential = visitor.credential.clone();
    Ok(reply::answer(answered, site.bounds.keep_alive, asked, |messages| {
        let texts = handover::stateless(messages);
        if subscribed {
            handover::while_admitted(Arc::clone(site), credential, texts)
        } else {
            texts
        }
    }))
}

/// Runs one request. That of an identified caller keeps its party until its answer was sent, and while its
/// call waits for input.
pub(super) async fn ask(
    site: &Site,
    visitor: &Visitor<'_>,
    head: HeaderMap,
    message: Message,
    request_id: RequestId,
) -> Result<Answer, Fault> {
    let (request, flight) = requested(site, visitor, head, message, request_id)?;
    Ok(dispatch(&visitor.endpoint.connector, request).await?.holding(flight))
}

/// Passes a notification on.
pub(super) async fn tell(
    site: &Site,
    visitor: &Visitor<'_>,
    head: HeaderMap,
    message: Message,
    request_id: RequestId,
) -> Result<(), Fault> {
    let (request, _flight) = requested(site, visitor, head, message, request_id)?;
    pipeline::tell(&visitor.endpoint.connector, request).await
}

/// What was established about a message, and what keeps its party.
pub(super) fn requested(
    site: &Site,
    visitor: &Visitor<'_>,
    head: HeaderMap,
    message: Message,
    request_id: RequestId,
) -> Result<(Request, Arc<Flight>), Fault> {
    let connector = &visitor.endpoint.connector;
    let client_info = message.field(Field::MetaClientInfo).map(Arc::from);
    let capabilities = message.field(Field::MetaCapabilities).map(Arc::from);
    let passed = headers::passed(&head);
    let (caller, guard) = if let Some(caller) = &visitor.caller {
        (caller.clone(), Some(site.sessions.enter(&connector.name, caller)?))
    } else {
        let credential = visitor.credential.as_ref().filter(|_| connector.lends());
        (Arc::new(Caller::anybody().with_credential(credential)), None)
    };
    let own = guard.as_ref().map(PartyGuard::id);
    let flight = Arc::new(guard.map(Flight::keeping).unwrap_or_default());
    let request = Request {
        request_id,
        caller,
        party: Arc::new(visitor.endpoint.party(own, client_info, capabilities)),
        message,
        headers: Arc::new(headers::without_credentials(head)),
        session: None,
        passed,
        credential: visitor.credential.clone(),
        filters: visitor.filters.clone(),
        flight: flight.clone(),
        depth: 0,
        streams: true,
        confirmed: None,
        trail: None,
    };
    Ok((request, flight))
}

/// The version stands in `_meta` and in the header, and is the same (SEP-2575).
fn check_version(head: &HeaderMap, message: &Message) -> Result<(), Fault> {
    let header = headers::get(head, &headers::PROTOCOL_VERSION)?;
    let stated = message.string(Field::MetaProtocolVersion);
    if stated.is_some_and(|stated| header != Some(&*stated)) {
        let text = "The header MCP-Protocol-Version must name the version that _meta names.";
        return Err(Fault::new(Code::HeaderMismatch, text));
    }
    check_meta(message)
}

/// What `_meta` must say, however the message came: a version that plugway speaks, and of a request the capabilities.
pub(super) fn check_meta(message: &Message) -> Result<(), Fault> {
    let Some(stated) = message.string(Field::MetaProtocolVersion) else {
        if message.kind() == Kind::Notification {
            return Ok(());
        }
        return Err(missing_meta("io.modelcontextprotocol/protocolVersion"));
    };
    if Revision::parse(&stated) != Some(Revision::NEWEST) {
        return Err(post::unsupported(&stated));
    }
    if message.kind() == Kind::Request
        && !message.field(Field::MetaCapabilities).is_some_and(|given| given.starts_with('{'))
    {
        return Err(missing_meta("io.modelcontextprotocol/clientCapabilities"));
    }
    Ok(())
}

fn missing_meta(key: &str) -> Fault {
    Fault::new(Code::MissingMeta, format!("The params need _meta with the key {key:?}."))
}

/// `Mcp-Method` and `Mcp-Name` say what the body says (SEP-2243): whoever routes by headers and whoever reads the
/// body see the same call.
fn check_routing_headers(head: &HeaderMap, message: &Message) -> Result<(), Fault> {
    let method = message.method_name();
    if headers::get(head, &headers::METHOD)? != Some(&*method) {
        return Err(mismatch("Mcp-Method", "the method"));
    }
    let name = match message.method() {
        Method::ToolsCall | Method::PromptsGet => message.string(Field::Name),
        Method::ResourcesRead => message.string(Field::Uri),
        // SEP-2663, "Routing Headers".
        Method::Other if Home::of(&method, Era::Modern) == Home::Feature(&TASKS) => {
            task_id(message)
        }
        _ => None,
    };
    // A body without a name is refused for that, below.
    let Some(name) = name else { return Ok(()) };
    let header = headers::get(head, &headers::NAME)?.and_then(mcp::decode);
    if header.as_deref() != Some(Cow::as_ref(&name)) {
        return Err(mismatch("Mcp-Name", "the name or URI"));
    }
    Ok(())
}

fn task_id(message: &Message) -> Option<Cow<'_, str>> {
    let params = message.params()?;
    message::string(params.get(scan::member(params, "taskId")?.range())?)
}

fn mismatch(header: &str, what: &str) -> Fault {
    let text = format!("The header {header} must repeat {what} of the body.");
    Fault::new(Code::HeaderMismatch, text)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;

    use super::{check_routing_headers, check_version};
    use crate::fault::Code;
    use crate::protocol::{Message, header};

    fn message(method: &str, params: &str) -> Message {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        Message::parse(Bytes::from(text)).unwrap()
    }

    fn head(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn method_and_name_are_repeated() {
        let encoded = header::encode("é");
        for (method, params, pairs, fits) in [
            ("ping", "{}", &[("mcp-method", "ping")][..], true),
            ("ping", "{}", &[], false),
            ("ping", "{}", &[("mcp-method", "Ping")], false),
            (
                "tools/call",
                r#"{"name":"a"}"#,
                &[("mcp-method", "tools/call"), ("mcp-name", "a")],
                true,
            ),
            (
                "tools/call",
                r#"{"name":"\u0061"}"#,
                &[("mcp-method", "tools/call"), ("mcp-name", "a")],
                true,
            ),
            (
                "tools/call",
                r#"{"name":"é"}"#,
                &[("mcp-method", "tools/call"), ("mcp-name", &encoded)],
                true,
            ),
            (
                "tools/call",
                r#"{"name":"a"}"#,
                &[("mcp-method", "tools/call"), ("mcp-name", "b")],
                false,
            ),
            ("tools/call", r#"{"name":"a"}"#, &[("mcp-method", "tools/call")], false),
            (
                "tools/call",
                r#"{"name":"a"}"#,
                &[("mcp-method", "tools/call"), ("mcp-name", "=?base64?!?=")],
                false,
            ),
            (
                "prompts/get",
                r#"{"name":"a"}"#,
                &[("mcp-method", "prompts/get"), ("mcp-name", "b")],
                false,
            ),
            (
                "resources/read",
                r#"{"uri":"a:b"}"#,
                &[("mcp-method", "resources/read"), ("mcp-name", "a:b")],
                true,
            ),
            (
                "resources/read",
                r#"{"uri":"a:b"}"#,
                &[("mcp-method", "resources/read"), ("mcp-name", "a:c")],
                false,
            ),
        ] {
            let checked = check_routing_headers(&head(pairs), &message(method, params));
            let code = checked.err().map(|fault| fault.code());
            assert_eq!(code, (!fits).then_some(Code::HeaderMismatch), "{params} {pairs:?}");
        }
    }

    #[test]
    fn the_version_stands_in_both_places_and_capabilities_with_it() {
        let version = |date: &str| format!(r#""io.modelcontextprotocol/protocolVersion":"{date}""#);
        let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
        let (now, old) = (version("2026-07-28"), version("2025-11-25"));
        for (meta, header, expected) in [
            (format!("{now},{capabilities}"), "2026-07-28", None),
            (format!("{now},{capabilities}"), "2025-11-25", Some(Code::HeaderMismatch)),
            (format!("{old},{capabilities}"), "2025-11-25", Some(Code::UnsupportedVersion)),
            (now, "2026-07-28", Some(Code::MissingMeta)),
            (capabilities.to_owned(), "2026-07-28", Some(Code::MissingMeta)),
            (
                r#""io.modelcontextprotocol/protocolVersion":5"#.to_owned(),
                "5",
                Some(Code::MissingMeta),
            ),
        ] {
            let message = message("ping", &format!(r#"{{"_meta":{{{meta}}}}}"#));
            let checked = check_version(&head(&[("mcp-protocol-version", header)]), &message);
            assert_eq!(checked.err().map(|fault| fault.code()), expected, "{meta} {header}");
        }
    }
}
