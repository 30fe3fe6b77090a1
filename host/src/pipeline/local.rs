//! Answers that a plugin gives in the upstream's place, and requests that plugins send.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::json_string;
use super::collect;
use super::connector::Connector;
use super::exchange::{Call, own};
use super::lazy::Reveal;
use super::port::{Answer, Asker, Promise, Requester};
use super::request::{Flight, Request, RequestId};
use super::trail::Ending;
use crate::catalogue::{Entry, EntryKind, Hints, Sight, Target};
use crate::fault::{Code, Fault};
use crate::protocol::{Field, Message, Method};

/// What a client hears when a plugin failed to decide.
pub(super) const NO_DECISION: &str =
    "A plugin of this server failed on the call; its operator finds the reason in the log.";

/// A plugin's request may lead to another plugin's request, but not further.
const MAX_DEPTH: u8 = 2;

/// The answer to a request with a result that a plugin gave as JSON text.
pub(super) fn answered(request: &Request, result: &str) -> Result<Answer, Fault> {
    if let Err(error) = serde_json::from_str::<AnObject>(result) {
        let why = format!("the plugin's result is no JSON object: {error}");
        return Err(Fault::new(Code::PluginInvalid, NO_DECISION).because(why));
    }
    own(request, result.as_bytes())
}

type Object = IndexMap<String, Box<RawValue>>;

/// Accepts any JSON object without building it.
#[derive(Deserialize)]
pub(super) struct AnObject {}

/// What the import `upstreams` sends through: the same policies judge the plugin's request as the caller's own.
/// What the router asks of the server of a guarded entry while it answers a call of it, `guard`, is a part of that call, for
/// other guarded tools as far as the caller may see them.
pub(super) fn requester(
    connector: &Arc<Connector>,
    request: &Request,
    guard: Option<(usize, &Arc<str>)>,
) -> Arc<dyn Requester> {
    let guard = guard.map(|(upstream, name)| (upstream, name.clone()));
    Arc::new(AsCaller { connector: connector.clone(), request: request.clone(), guard })
}

struct AsCaller {
    connector: Arc<Connector>,
    request: Request,
    guard: Option<(usize, Arc<str>)>,
}

impl Requester for AsCaller {
    fn request(
        &self,
        asker: Asker,
        upstream: String,
        method: String,
        params: String,
    ) -> Promise<'_, Result<String, String>> {
        Box::pin(async move { self.send(asker, &upstream, &method, &params).await })
    }

    fn reveal(&self) -> Option<Reveal> {
        Reveal::of(&self.connector, &self.request.party)
    }
}

impl AsCaller {
    async fn send(
        &self,
        asker: Asker,
        upstream: &str,
        method: &str,
        params: &str,
    ) -> Result<String, String> {
        if self.request.depth >= MAX_DEPTH {
            return Err("requests of plugins are nested too deep".to_owned());
        }
        let kind = match Method::of(method) {
            Method::ToolsCall => EntryKind::Tool,
            Method::PromptsGet => EntryKind::Prompt,
            Method::ResourcesRead => EntryKind::Resource,
            _ => return Err(format!("plugins cannot send {method:?}")),
        };
        let place = self
            .connector
            .place_of(upstream)
            .ok_or_else(|| format!("this connector has no upstream {upstream:?}"))?;
        let method = json_string(method);
        let params = self
            .params(params)
            .map_err(|error| format!("the params are no JSON object: {error}"))?;
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method},"params":{params}}}"#);
        let message = Message::parse(text.into()).map_err(|error| error.to_string())?;
        let mut call = self.call(kind, place, message).await?;
        let guard = self.guard.as_ref().filter(|(own, _)| asker == Asker::Router && *own == place);
        call.unguarded = guard.is_some();
        let parent = Some(self.request.request_id);
        let ending = Ending::begin(&self.connector, &mut call.request, parent);
        let part = match (&call.entry.target, guard) {
            (Target::Fixed { name, guarded, .. }, Some((_, own))) => {
                (*guarded || name == own) && kind == EntryKind::Tool
            }
            _ => false,
        };
        let answer = match call.fixed().filter(|_| part) {
            // The call in hand, perhaps about another id, or what the router has to know of the server to answer it: policies
            // have judged the call, and will review what comes of it.
            Some(own) => Box::pin(call.exchange(own)).await,
            None => Box::pin(call.run()).await,
        };
        let answer = match ending {
            None => answer,
            Some(ending) => Box::pin(ending.of(answer)).await,
        };
        let answer = answer.map_err(|fault| fault.to_string())?;
        let response = collect::response(answer, self.connector.review_max).await;
        let response = response.map_err(|fault| fault.to_string())?;
        match (response.result(), response.error()) {
            (Some(result), _) => Ok(result.to_owned()),
            (None, error) => Err(error.unwrap_or("the upstream gave no answer").to_owned()),
        }
    }

    /// The params as the caller's era wants them: a modern request carries its context. Nobody answers questions that an
    /// upstream might have, so no capability of the client is claimed.
    fn params(&self, params: &str) -> Result<String, serde_json::Error> {
        let mut params: Object = serde_json::from_str(params)?;
        let Some(version) = self.request.message.field(Field::MetaProtocolVersion) else {
            return serde_json::to_string(&params);
        };
        let given = params.get("_meta").map(|meta| serde_json::from_str::<Object>(meta.get()));
        let mut meta = given.transpose()?.unwrap_or_default();
        let mut put = |name: &str, value: &str| {
            let value = RawValue::from_string(value.to_owned())?;
            meta.insert(format!("io.modelcontextprotocol/{name}"), value);
            Ok::<(), serde_json::Error>(())
        };
        put("protocolVersion", version)?;
        put("clientCapabilities", "{}")?;
        if let Some(info) = self.request.message.field(Field::MetaClientInfo) {
            put("clientInfo", info)?;
        }
        let meta = RawValue::from_string(serde_json::to_string(&meta)?)?;
        params.insert("_meta".to_owned(), meta);
        serde_json::to_string(&params)
    }

    /// The call that the plugin wants, under the name that the connector shows for it. What a policy hides from the
    /// caller is hidden here too; what the router does not show to anybody is judged under the upstream's own name.
    async fn call(
        &self,
        kind: EntryKind,
        place: usize,
        message: Message,
    ) -> Result<Call<'_>, String> {
        let field = if kind == EntryKind::Resource { Field::Uri } else { Field::Name };
        let own: Arc<str> = message
            .string(field)
            .map(Arc::from)
            .ok_or_else(|| "params name nothing to ask for".to_owned())?;
        let view = self.request.view(&self.connector).await.map_err(|f| f.to_string())?;
        let shown = view.catalogue().entries().iter().zip(0..).find(|(entry, _)| {
            entry.kind == kind
                && entry.arguments.is_none()
                && matches!(&entry.target, Target::Fixed { upstream, name, .. }
                    if *upstream == place && *name == own)
        });
        let entry = match shown {
            Some((_, at)) if view.sight(at) == Sight::Hidden => {
                return Err(format!("the upstream has no {own:?}"));
            }
            Some((entry, _)) => entry.clone(),
            None => Arc::new(Entry {
                kind,
                key: own.clone(),
                definition: "{}".into(),
                target: Target::Fixed { upstream: place, name: own, guarded: false },
                hints: Hints::default(),
                arguments: None,
                mirrored: Box::default(),
            }),
        };
        let request = Request {
            request_id: RequestId::next(),
            message,
            flight: Arc::new(Flight::default()),
            passed: Vec::new(),
            depth: self.request.depth + 1,
            confirmed: None,
            ..self.request.clone()
        };
        let name = entry.key.clone();
        Ok(Call::new(&self.connector, request, view, entry, name))
    }
}
