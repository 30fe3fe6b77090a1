//! Messages that plugway itself writes to a server.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::pipeline::Level;
use crate::pipeline::party::Party;
use crate::protocol::{Era, Id, Revision};

/// How plugway names itself where no client stands behind a request.
pub(super) const CLIENT_INFO: &str =
    concat!(r#"{"name":"plugway","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// Id of the requests that open a session or probe an era: nothing else is in flight then.
pub(super) const OPENING_ID: u64 = 0;

/// Ids of plugway's own requests in a client's session count from here: far above those of clients, and exact in every
/// language that has no integers.
pub(super) const OWN_IDS: u64 = 1 << 52;

/// Capabilities that would let a server send requests to the client, or hand out tasks. None is claimed: nothing
/// carries such traffic to the client yet.
const NOT_CLAIMED: [&str; 4] = ["sampling", "elicitation", "roots", "tasks"];

/// What a server is told about who opens a session.
#[derive(Clone, Debug)]
pub(super) struct Hello {
    revision: Revision,
    client_info: Arc<str>,
    capabilities: String,
    /// The level of the log messages that the client wants, where it said so.
    level: Option<Level>,
}

impl Hello {
    /// plugway for itself.
    pub(super) fn own() -> Self {
        Self {
            revision: Revision::NEWEST_LEGACY,
            client_info: CLIENT_INFO.into(),
            capabilities: "{}".to_owned(),
            level: None,
        }
    }

    /// On behalf of a party.
    pub(super) fn of(party: &Party) -> Self {
        let legacy = party.revision.era() == Era::Legacy;
        Self {
            revision: if legacy { party.revision } else { Revision::NEWEST_LEGACY },
            client_info: party.client_info.clone().unwrap_or_else(|| CLIENT_INFO.into()),
            capabilities: claimed(party.capabilities.as_deref().unwrap_or("{}")),
            level: party.outbox.level(),
        }
    }

    /// The request `initialize`.
    pub(super) fn initialize(&self, id: u64) -> Bytes {
        request(
            id,
            "initialize",
            &format!(
                r#"{{"protocolVersion":"{}","capabilities":{},"clientInfo":{}}}"#,
                self.revision.as_str(),
                self.capabilities,
                self.client_info
            ),
        )
    }

    /// Members of `params._meta` that each request of the modern era carries.
    pub(super) fn meta(&self) -> String {
        let level = self
            .level
            .map(|level| format!(r#","io.modelcontextprotocol/logLevel":"{}""#, level.as_str()));
        format!(
            r#""io.modelcontextprotocol/protocolVersion":"{}","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}{}"#,
            Revision::NEWEST.as_str(),
            self.client_info,
            self.capabilities,
            level.unwrap_or_default()
        )
    }
}

/// The capabilities without those that plugway cannot carry; nothing when they are not an object.
fn claimed(capabilities: &str) -> String {
    let parsed = serde_json::from_str::<BTreeMap<String, &RawValue>>(capabilities);
    let Ok(mut members) = parsed else { return "{}".to_owned() };
    members.retain(|name, _| !NOT_CLAIMED.contains(&name.as_str()));
    serde_json::to_string(&members).unwrap_or_else(|_| "{}".to_owned())
}

/// A request; `params` is JSON text.
pub(super) fn request(id: u64, method: &str, params: &str) -> Bytes {
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
}

/// A request of the modern era without parameters of its own but a cursor.
pub(super) fn modern_request(id: u64, method: &str, cursor: Option<&str>) -> Bytes {
    let meta = Hello::own().meta();
    let cursor = cursor.map(|cursor| format!(r#","cursor":{cursor}"#)).unwrap_or_default();
    request(id, method, &format!(r#"{{"_meta":{{{meta}}}{cursor}}}"#))
}

/// A request of the legacy era without parameters but a cursor.
pub(super) fn legacy_request(id: u64, method: &str, cursor: Option<&str>) -> Bytes {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{cursor}"#)).unwrap_or_default();
    request(id, method, &format!("{{{cursor}}}"))
}

/// `subscriptions/listen` for the changes of every list.
pub(super) fn listen(id: u64) -> Bytes {
    let meta = Hello::own().meta();
    let lists = r#""toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true"#;
    let params = format!(r#"{{"_meta":{{{meta}}},"notifications":{{{lists}}}}}"#);
    request(id, "subscriptions/listen", &params)
}

/// `notifications/initialized`.
pub(super) fn initialized() -> Bytes {
    Bytes::from_static(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
}

/// `notifications/cancelled` for a request; `id` is JSON text.
pub(super) fn cancelled(id: &str) -> Bytes {
    Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ))
}

/// What a server gets that asks plugway: an empty result for `ping`, else an error. `id` is JSON text.
pub(super) fn reply(id: &str, method: &str) -> Bytes {
    if method == "ping" {
        return Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"the client declared no capability for this request"}}}}"#
    ))
}

/// An error response with the id of the request that it belongs to. `error` is JSON text.
pub(super) fn error_response(id: &Id, error: &str) -> Bytes {
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.as_json()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Message;

    #[test]
    fn server_to_client_capabilities_are_not_claimed() {
        let kept = claimed(
            r#"{"sampling":{},"roots":{"listChanged":true},"extensions":{"x/y":{}},"elicitation":{}}"#,
        );
        assert_eq!(kept, r#"{"extensions":{"x/y":{}}}"#);
        assert_eq!(claimed("[]"), "{}");
    }

    #[test]
    fn every_authored_message_is_a_message() {
        let texts = [
            Hello::own().initialize(OPENING_ID),
            modern_request(1, "tools/list", Some("\"c\"")),
            legacy_request(1, "tools/list", None),
            listen(3),
            initialized(),
            cancelled("7"),
            reply("1", "ping"),
            reply("\"x\"", "sampling/createMessage"),
        ];
        for text in texts {
            Message::parse(text.clone()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        }
    }
}
