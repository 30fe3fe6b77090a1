//! Answers that a plugin gives in the upstream's place, and requests that plugins send.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::json_string;
use super::collect;
use super::connector::Connector;
use super::dispatch::dispatch;
use super::exchange::own;
use super::port::{Answer, Promise, Requester};
use super::request::{Flight, Request, RequestId};
use crate::catalogue::{EntryKind, Target};
use crate::fault::{Code, Fault};
use crate::protocol::{Message, Method};

/// What a client hears when a plugin failed to decide.
pub(super) const NO_DECISION: &str =
    "A plugin of this server failed on the call; its operator finds the reason in the log.";

/// A plugin's request may lead to another plugin's request, but not further.
const MAX_DEPTH: u8 = 2;

/// The answer to a request with a result that a plugin gave as JSON text.
pub(super) fn answered(request: &Request, result: String) -> Result<Answer, Fault> {
    if let Err(error) = serde_json::from_str::<AnObject>(&result) {
        let why = format!("the plugin's result is no JSON object: {error}");
        return Err(Fault::new(Code::PluginInvalid, NO_DECISION).because(why));
    }
    own(request, result.as_bytes())
}

/// Accepts any JSON object without building it.
#[derive(Deserialize)]
pub(super) struct AnObject {}

/// What the import `upstreams` sends through: the same policies judge the plugin's request as the caller's own.
pub(super) fn requester(connector: &Arc<Connector>, request: &Request) -> Arc<dyn Requester> {
    Arc::new(AsCaller { connector: connector.clone(), request: request.clone() })
}

struct AsCaller {
    connector: Arc<Connector>,
    request: Request,
}

impl Requester for AsCaller {
    fn request(
        &self,
        upstream: String,
        method: String,
        params: String,
    ) -> Promise<'_, Result<String, String>> {
        Box::pin(async move { self.send(&upstream, &method, &params).await })
    }
}

impl AsCaller {
    async fn send(&self, upstream: &str, method: &str, params: &str) -> Result<String, String> {
        if self.request.depth >= MAX_DEPTH {
            return Err("requests of plugins are nested too deep".to_owned());
        }
        let place = self
            .connector
            .place_of(upstream)
            .ok_or_else(|| format!("this connector has no upstream {upstream:?}"))?;
        let message = self.shown(place, method, params).await?;
        let request = Request {
            request_id: RequestId::next(),
            message,
            flight: Arc::new(Flight::default()),
            passed: Vec::new(),
            depth: self.request.depth + 1,
            ..self.request.clone()
        };
        let answer = dispatch(&self.connector, request).await.map_err(|f| f.to_string())?;
        let response = collect::response(answer).await.map_err(|fault| fault.to_string())?;
        match (response.result(), response.error()) {
            (Some(result), _) => Ok(result.to_owned()),
            (None, Some(error)) => Err(error.to_owned()),
            (None, None) => Err("the upstream gave no answer".to_owned()),
        }
    }

    /// The plugin's request as the caller would send it: under the name that the connector shows.
    async fn shown(&self, place: usize, method: &str, params: &str) -> Result<Message, String> {
        let (kind, member) = match Method::of(method) {
            Method::ToolsCall => (EntryKind::Tool, "name"),
            Method::PromptsGet => (EntryKind::Prompt, "name"),
            Method::ResourcesRead => (EntryKind::Resource, "uri"),
            _ => return Err(format!("plugins cannot send {method:?}")),
        };
        let mut params: indexmap::IndexMap<String, Box<RawValue>> = serde_json::from_str(params)
            .map_err(|error| format!("params are no JSON object: {error}"))?;
        let own: String = params
            .get(member)
            .and_then(|value| serde_json::from_str(value.get()).ok())
            .ok_or_else(|| format!("params have no string {member:?}"))?;
        if kind != EntryKind::Resource {
            let view =
                self.connector.view(&self.request.caller).await.map_err(|f| f.to_string())?;
            let entry = view.catalogue().entries().iter().find(|entry| {
                entry.kind == kind
                    && matches!(&entry.target, Target::Fixed { upstream, name }
                        if *upstream == place && **name == *own)
            });
            let shown = entry.ok_or_else(|| format!("the upstream has no {own:?}"))?.key.clone();
            let shown = RawValue::from_string(json_string(&shown)).map_err(|e| e.to_string())?;
            params.insert(member.to_owned(), shown);
        }
        let params = serde_json::to_string(&params).map_err(|error| error.to_string())?;
        let method = json_string(method);
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method},"params":{params}}}"#);
        Message::parse(text.into()).map_err(|error| error.to_string())
    }
}
