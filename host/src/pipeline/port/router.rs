//! The router: shapes the catalogue and says which upstream serves a name.

use std::sync::Arc;

use super::Promise;
use super::policy::{Outcome, Rejection};
use crate::catalogue::Shaped;
use crate::fault::Fault;
use crate::pipeline::call::CallContext;
use crate::pipeline::lazy::Reveal;

/// An upstream as the router sees it.
#[derive(Clone, Debug, Default)]
pub struct UpstreamView {
    /// The operator's name.
    pub name: Arc<str>,
    /// The server's own name; empty while it was never reached.
    pub server_name: Arc<str>,
    /// False while clients do not see its entries: it was never reached, or is away for longer than the operator lets pass;
    /// the lists are then the last ones it gave.
    pub up: bool,
    /// JSON text of each tool.
    pub tools: Vec<Arc<str>>,
    /// JSON text of each prompt.
    pub prompts: Vec<Arc<str>>,
    /// JSON text of each resource.
    pub resources: Vec<Arc<str>>,
    /// JSON text of each resource template.
    pub templates: Vec<Arc<str>>,
    /// Further documents, by name.
    pub documents: Vec<(Arc<str>, Arc<str>)>,
    /// JSON object of what the operator wrote about names.
    pub settings: Arc<str>,
}

/// A connector as its router sees it.
#[derive(Clone, Debug, Default)]
pub struct ConnectorView {
    /// The connector's name.
    pub name: Arc<str>,
    /// What the operator says about it.
    pub description: Arc<str>,
    /// Every configured upstream, in the order of the configuration.
    pub upstreams: Vec<UpstreamView>,
    /// Further settings of the connector, by their documented keys.
    pub attributes: Vec<(Arc<str>, Arc<str>)>,
}

/// How much a router takes in one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Entries of all upstreams.
    pub entries: usize,
    /// Bytes of these and of further documents.
    pub bytes: usize,
}

/// What `route` decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routing {
    /// Upstream and its own name for the thing.
    Forward(String, String),
    /// [`Router::answer`] answers.
    Answer,
    /// Refuse.
    Reject(Rejection),
}

/// What `answer` gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// JSON text of a result of the called method.
    Answer(String),
    /// Refuse.
    Reject(Rejection),
}

/// A router plugin in its place in a connector.
pub trait Router: Send + Sync {
    /// The operator's name for the plugin.
    fn name(&self) -> &str;
    /// Changes when the shape made earlier may no longer hold.
    fn generation(&self) -> u64;
    /// What it takes at most in one shape.
    fn room(&self) -> Room;
    /// Shapes the catalogue. Slow: up to two seconds, off the event loop.
    fn shape(&self, connector: ConnectorView) -> Promise<'_, Result<Shaped, Fault>>;
    /// Decides who serves a dynamic entry, and judges a call of a guarded one.
    fn route(&self, call: Arc<CallContext>) -> Promise<'_, Result<Routing, Fault>>;
    /// Serves a local entry, or a call of which `route` decided so.
    fn answer(&self, call: Arc<CallContext>) -> Promise<'_, Result<Reply, Fault>>;
    /// Whether the router learns from answers of a tool with this own name at its server. Asked for every call: fast.
    fn learns(&self, tool: &str) -> bool;
    /// Learns from an answer. The target of the call is where it went.
    fn learn(&self, call: Arc<CallContext>, outcome: Outcome) -> Promise<'_, Result<(), Fault>>;
    /// Whether the plugin is ready, and its sentence about it.
    fn ready(&self) -> Promise<'_, Result<String, String>>;
}

/// Which plugin sends a request of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// The router, while it answers a call.
    Router,
    /// Any other.
    Policy,
}

/// Sends a request to an upstream of the connector as the current caller, under the same policies: what the plugin
/// import `upstreams` stands on.
pub trait Requester: Send + Sync {
    /// JSON text of the result, or one sentence why there is none.
    fn request(
        &self,
        asker: Asker,
        upstream: String,
        method: String,
        params: String,
    ) -> Promise<'_, Result<String, String>>;

    /// What the caller's session has loaded, for the plugin import `reveal`; none where nothing is kept.
    fn reveal(&self) -> Option<Reveal> {
        None
    }
}
