//! `GET PATH/catalog`: the functions and skills behind a connector, for whoever stacks one on it.

use std::sync::Arc;

use http::HeaderMap;

use super::reply::{Asked, Reply};
use super::site::{Endpoint, Site};
use super::visitor::Visitor;
use super::{modern, plain};
use crate::fault::{Code, Fault};
use crate::pipeline::{RequestId, catalog};
use crate::protocol::{Message, Revision};

/// What the caller may see of it, behind the same doors as the endpoint for MCP.
pub async fn get(
    site: &Arc<Site>,
    endpoint: &Endpoint,
    head: HeaderMap,
    query: Option<&str>,
) -> Reply {
    let request_id = RequestId::next();
    let read = async {
        let visitor = Visitor::identify(site, endpoint, &head).await?.asking(&head, query);
        let connector = &endpoint.connector;
        let message = question(&connector.name)?;
        let (request, _kept) = modern::requested(site, &visitor, head, message, request_id)?;
        catalog::read(connector, request).await
    };
    match read.await {
        Ok(text) => plain::unkept(text.unwrap_or_else(|| nothing(&endpoint.connector.name))),
        Err(fault) => site.refuse(&fault, Asked::unknown(request_id)),
    }
}

/// The router is asked as by a client.
fn question(connector: &str) -> Result<Message, Fault> {
    let text = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": {
            "uri": catalog::uri(connector),
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": Revision::NEWEST.as_str(),
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let unread = |error| Fault::new(Code::Internal, "The question was lost.").because(error);
    Message::parse(text.to_string().into()).map_err(unread)
}

/// The catalogue of a connector behind which no server runs code, or none that the caller may see.
fn nothing(connector: &str) -> String {
    serde_json::json!({"server_name": connector, "tools": [], "skills": []}).to_string()
}
