//! Messages of the modern era: each carries its whole context.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;

use super::reply::{self, Reply};
use super::site::{Endpoint, Site};
use super::{headers, post};
use crate::fault::{Code, Fault};
use crate::pipeline::{Caller, Flight, Request, RequestId, dispatch};
use crate::protocol::{Field, Kind, Message, Method, Revision, header as mcp};

/// Answers one message.
pub(super) async fn serve(
    site: &Arc<Site>,
    endpoint: &Endpoint,
    head: HeaderMap,
    message: Message,
    request_id: RequestId,
) -> Result<Reply, Fault> {
    check_version(&head, &message)?;
    let id = match (message.kind(), message.id().cloned()) {
        (Kind::Request, Some(id)) => id,
        // Cancelling is closing the stream, and nothing is asked of clients: there is nothing to do.
        (Kind::Notification, _) => return Ok(reply::empty(false)),
        _ => {
            let text = "Revision 2026-07-28 has no responses of clients.";
            return Err(Fault::new(Code::InvalidRequest, text));
        }
    };
    check_routing_headers(&head, &message)?;
    let client_info = message.field(Field::MetaClientInfo).map(Arc::from);
    let capabilities = message.field(Field::MetaCapabilities).map(Arc::from);
    let passed = headers::passed(&head);
    let request = Request {
        request_id,
        caller: Arc::new(Caller::anonymous("anonymous")),
        party: Arc::new(endpoint.stranger(client_info, capabilities)),
        message,
        headers: Arc::new(headers::without_credentials(head)),
        session: None,
        passed,
        flight: Arc::new(Flight::default()),
        depth: 0,
    };
    let answered = dispatch(&endpoint.connector, request).await?;
    Ok(reply::answer(answered, site.bounds.keep_alive, &id, request_id))
}

/// The version stands in `_meta` and in the header, and is the same (SEP-2575).
fn check_version(head: &HeaderMap, message: &Message) -> Result<(), Fault> {
    let header = headers::get(head, mcp::PROTOCOL_VERSION)?;
    let Some(stated) = message.string(Field::MetaProtocolVersion) else {
        if message.kind() == Kind::Notification {
            return Ok(());
        }
        return Err(missing_meta("io.modelcontextprotocol/protocolVersion"));
    };
    if header != Some(&*stated) {
        let text = "The header MCP-Protocol-Version must name the version that _meta names.";
        return Err(Fault::new(Code::HeaderMismatch, text));
    }
    if Revision::parse(&stated) != Some(Revision::NEWEST) {
        return Err(post::unsupported(&stated));
    }
    if message.kind() == Kind::Request && message.field(Field::MetaCapabilities).is_none() {
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
    if headers::get(head, mcp::METHOD)? != Some(&*method) {
        return Err(mismatch("Mcp-Method", "the method"));
    }
    let field = match message.method() {
        Method::ToolsCall | Method::PromptsGet => Field::Name,
        Method::ResourcesRead => Field::Uri,
        _ => return Ok(()),
    };
    // A body without a name is refused for that, below.
    let Some(name) = message.string(field) else { return Ok(()) };
    let header = headers::get(head, mcp::NAME)?.and_then(mcp::decode);
    if header.as_deref() != Some(Cow::as_ref(&name)) {
        return Err(mismatch("Mcp-Name", "the name or URI"));
    }
    Ok(())
}

fn mismatch(header: &str, what: &str) -> Fault {
    let text = format!("The header {header} must repeat {what} of the body.");
    Fault::new(Code::HeaderMismatch, text)
}
