//! Messages that plugway itself writes to a server.

use std::sync::Arc;

use bytes::Bytes;

use super::permission::claimed;
use super::settings::Asks;
use crate::pipeline::Level;
use crate::pipeline::party::Party;
use crate::protocol::{Era, Revision};

/// How plugway names itself where no client stands behind a request.
pub(super) const CLIENT_INFO: &str =
    concat!(r#"{"name":"plugway","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// Id of the requests that open a session or probe an era: nothing else is in flight then.
pub(super) const OPENING_ID: u64 = 0;

/// Ids of plugway's own requests in a client's session count from here: far above those of clients, and exact in every
/// language that has no integers.
pub(super) const OWN_IDS: u64 = 1 << 52;

/// What a server is told about who opens a session.
#[derive(Clone, Debug)]
pub(super) struct Hello {
    revision: Revision,
    client_info: Arc<str>,
    capabilities: String,
    /// What else the client said when it opened its session: members with commas between them.
    further: Option<Arc<str>>,
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
            further: None,
            level: None,
        }
    }

    /// plugway for clients with these capabilities (JSON text of an object).
    pub(super) fn claiming(capabilities: &str) -> Self {
        Self { capabilities: capabilities.to_owned(), ..Self::own() }
    }

    /// On behalf of a party, of whose capabilities those are claimed that `allowed` lets the server use.
    pub(super) fn of(party: &Party, allowed: Asks) -> Self {
        let legacy = party.revision.era() == Era::Legacy;
        let declared = party.capabilities.as_deref().unwrap_or("{}");
        Self {
            revision: if legacy { party.revision } else { Revision::NEWEST_LEGACY },
            client_info: party.client_info.clone().unwrap_or_else(|| CLIENT_INFO.into()),
            capabilities: claimed(declared, allowed).unwrap_or_else(|| declared.to_owned()),
            further: party.further.clone(),
            level: party.outbox.level(),
        }
    }

    /// The request `initialize`.
    pub(super) fn initialize(&self, id: u64) -> Bytes {
        let further = self.further.as_ref().map(|further| format!(",{further}"));
        request(
            id,
            "initialize",
            &format!(
                r#"{{"protocolVersion":"{}","capabilities":{},"clientInfo":{}{}}}"#,
                self.revision.as_str(),
                self.capabilities,
                self.client_info,
                further.unwrap_or_default()
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

/// A request; `params` is JSON text.
pub(super) fn request(id: u64, method: &str, params: &str) -> Bytes {
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
}

/// A request of the modern era without parameters of its own but a cursor.
pub(super) fn modern_request(hello: &Hello, id: u64, method: &str, cursor: Option<&str>) -> Bytes {
    let meta = hello.meta();
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

/// What a server gets that asks whether plugway is alive. `id` is JSON text.
pub(super) fn pong(id: &str) -> Bytes {
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
}

/// An error response. `id` and `error` are JSON text.
pub(super) fn error_response(id: &str, error: &str) -> Bytes {
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Message;

    #[test]
    fn every_authored_message_is_a_message() {
        let texts = [
            Hello::own().initialize(OPENING_ID),
            modern_request(&Hello::own(), 1, "tools/list", Some("\"c\"")),
            legacy_request(1, "tools/list", None),
            listen(3),
            initialized(),
            cancelled("7"),
            pong("1"),
            error_response("\"x\"", r#"{"code":1,"message":""}"#),
        ];
        for text in texts {
            Message::parse(text.clone()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        }
    }
}
