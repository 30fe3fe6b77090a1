//! What one listener serves.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::annex::Annex;
use super::artifacts::Link;
use super::guard::Hosts;
use super::reply::{self, Asked, Reply};
use super::sse::{self, Channels};
use crate::fault::Fault;
use crate::pipeline::port::Authenticator;
use crate::pipeline::{Connector, NoOutbox, Party, PartyId};
use crate::protocol::Revision;
use crate::session::Sessions;
use crate::telemetry::Metrics;

/// Where a connector's functions and skills are listed, below its path.
const CATALOG: &str = "/catalog";

/// Bounds of what clients may send and how long they may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a request body.
    pub body: usize,
    /// Time for a request body to arrive.
    pub body_time: Duration,
    /// Silence on a stream after which a comment is sent.
    pub keep_alive: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            body: 4 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
        }
    }
}

/// What is served at one MCP endpoint.
#[derive(Debug)]
pub struct Endpoint {
    /// The connector.
    pub connector: Arc<Connector>,
    /// Stands for everybody whom plugway cannot tell apart: modern requests without identity.
    pub strangers: PartyId,
    /// Whether requests without a credential are served although the site identifies callers.
    pub anonymous: bool,
}

/// What is found at a path.
#[derive(Clone, Copy, Debug)]
pub enum Door<'a> {
    /// Streamable HTTP.
    Mcp(&'a Endpoint),
    /// The stream of HTTP+SSE, and the path of the connector.
    Stream(&'a Endpoint, &'a str),
    /// Where clients of HTTP+SSE post to.
    Messages(&'a Endpoint),
    /// A file of a server.
    Artifact(Link<'a>),
    /// The functions and skills behind a connector.
    Catalog(&'a Endpoint),
}

impl Door<'_> {
    /// A sentence that names the methods that it takes.
    pub fn methods(self) -> &'static str {
        match self {
            Self::Mcp(_) => "This path takes POST, GET and DELETE.",
            Self::Stream(..) => "This path takes GET: it opens a stream of HTTP+SSE.",
            Self::Artifact(_) => "This path takes GET and HEAD.",
            Self::Messages(_) => "This path takes POST: it is part of HTTP+SSE.",
            Self::Catalog(_) => "This path takes GET: it lists functions and skills.",
        }
    }
}

/// Everything that one listener serves, as it is configured now. A new configuration makes a new site, which shares
/// sessions and counts with the one before; a request keeps the site that it began with.
pub struct Site {
    /// Endpoints by path, such as `/mcp` or `/hub/mcp`.
    pub endpoints: HashMap<Box<str>, Endpoint>,
    /// What stands beside them, by path, such as `/hub/registry/v1/servers`.
    pub annexes: HashMap<Box<str>, Arc<dyn Annex>>,
    /// Open channels of HTTP+SSE.
    pub channels: Arc<Channels>,
    /// Sessions of the legacy era.
    pub sessions: Arc<Sessions>,
    /// Identifies callers; none = nobody is identified.
    pub auth: Option<Arc<dyn Authenticator>>,
    /// Which hosts and origins may ask.
    pub hosts: Hosts,
    /// Bounds of requests.
    pub bounds: Bounds,
    /// Requests and faults, counted.
    pub counts: Arc<Metrics>,
    /// Text for `GET /metrics`.
    pub metrics: Box<dyn Fn(&Self) -> String + Send + Sync>,
    /// What is wrong although calls are served: broken plugin files, a refused configuration.
    pub degraded: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}

impl Site {
    /// A fault as the answer; counted.
    pub fn refuse(&self, fault: &Fault, asked: Asked<'_>) -> Reply {
        self.counts.fault(fault);
        reply::fault(fault, asked)
    }

    /// What is found at a path.
    pub fn door<'a>(&'a self, path: &'a str) -> Option<Door<'a>> {
        if let Some(endpoint) = self.endpoints.get(path) {
            return Some(Door::Mcp(endpoint));
        }
        let of = |base: &str| self.endpoints.get(format!("{base}/mcp").as_str());
        if let Some(base) = path.strip_suffix(sse::STREAM) {
            return of(base).map(|endpoint| Door::Stream(endpoint, base));
        }
        if let Some(base) = path.strip_suffix(CATALOG) {
            return of(base).map(Door::Catalog);
        }
        if let Some(base) = path.strip_suffix(sse::MESSAGES) {
            return of(base).map(Door::Messages);
        }
        let (base, token, name) = Link::split(path)?;
        of(base).map(|endpoint| Door::Artifact(Link { endpoint, token, name }))
    }

    /// What stands at a path beside the endpoints, and the item of it that the path names.
    pub fn annex<'a>(&'a self, path: &'a str) -> Option<(&'a dyn Annex, Option<&'a str>)> {
        if let Some(annex) = self.annexes.get(path) {
            return Some((&**annex, None));
        }
        let (base, item) = path.rsplit_once('/').filter(|(_, item)| !item.is_empty())?;
        self.annexes.get(base).map(|annex| (&**annex, Some(item)))
    }

    /// The connectors, in no order.
    pub fn connectors(&self) -> impl Iterator<Item = &Arc<Connector>> {
        self.endpoints.values().map(|endpoint| &endpoint.connector)
    }

    /// Where the connector of a name is served.
    pub fn endpoint(&self, connector: &str) -> Option<&Endpoint> {
        self.endpoints.values().find(|endpoint| *endpoint.connector.name == *connector)
    }

    /// The connector of a name.
    pub fn connector(&self, name: &str) -> Option<&Arc<Connector>> {
        self.connectors().find(|connector| *connector.name == *name)
    }
}

impl Endpoint {
    /// The party of one modern request: that of its caller, or where there is none, of strangers.
    pub fn party(
        &self,
        own: Option<PartyId>,
        client_info: Option<Arc<str>>,
        capabilities: Option<Arc<str>>,
    ) -> Party {
        Party {
            id: own.unwrap_or(self.strangers),
            revision: Revision::NEWEST,
            shared_by_strangers: own.is_none(),
            client_info,
            capabilities,
            further: None,
            loads: None,
            outbox: Arc::new(NoOutbox),
        }
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("endpoints", &self.endpoints).finish_non_exhaustive()
    }
}
