//! One plugin entry as the configuration means it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::limits;
use crate::outbound::Fetcher;

/// A plugin entry: what `config` checked, ready to be loaded.
#[derive(Clone, Debug)]
pub struct PluginSpec {
    /// The operator's name for it: identity, state namespace and name in logs.
    pub key: Arc<str>,
    /// Where the component comes from.
    pub source: Source,
    /// SHA-256 that the component must have.
    pub digest: Option<[u8; 32]>,
    /// Configuration as JSON text; "{}" where the operator wrote none. A connector may bring its own.
    pub config: Arc<str>,
    /// What the plugin may use up.
    pub limits: Limits,
    /// What it may do beyond the services for everybody.
    pub grants: Grants,
    /// What happens to a call when the plugin fails.
    pub on_error: OnError,
}

/// Where a component comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Carried by the binary.
    Bundled(&'static [u8]),
    /// A file of the operator's; watched.
    File(PathBuf),
}

/// What a plugin may use up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time for the hooks of every call.
    pub time: Duration,
    /// Linear memory of one instance, in MiB.
    pub memory_mib: u32,
    /// Instances in one connector, and so calls at once; none = the default.
    pub instances: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: limits::HOT, memory_mib: limits::MEMORY_MIB, instances: None }
    }
}

/// What the operator allows one plugin.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    /// Request headers that it may read; a name may end in `*`. Credentials are never read.
    pub headers: Vec<String>,
    /// Query parameters of requests that it may read where it judges what is visible.
    pub query: Vec<String>,
    /// Headers of upstream requests that it may set or remove.
    pub set_headers: Vec<String>,
    /// Whether it may send requests to the upstreams of its connector.
    pub upstreams: bool,
    /// Whether it may change what sessions have loaded.
    pub reveal: bool,
    /// Where it may fetch from; none where nothing is granted.
    pub fetch: Option<Arc<Fetcher>>,
}

/// What happens to a call when a policy fails. Routers deny.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The call is denied.
    #[default]
    Deny,
    /// The call goes on as if the policy had nothing against it; not while the policy is put aside.
    Allow,
}

impl PluginSpec {
    /// An entry with default limits and no grants but that of the bundled router, which answers the tools of lazy discovery.
    pub fn new(key: impl Into<Arc<str>>, source: Source) -> Self {
        let reveal = matches!(source, Source::Bundled(_));
        Self {
            key: key.into(),
            source,
            digest: None,
            config: "{}".into(),
            limits: Limits::default(),
            grants: Grants { reveal, ..Grants::default() },
            on_error: OnError::Deny,
        }
    }

    /// Calls at once in one connector.
    pub fn instances(&self) -> u32 {
        let default = if self.waits() { limits::INSTANCES_WAITING } else { limits::INSTANCES };
        self.limits.instances.unwrap_or(default).clamp(1, 1_024)
    }

    /// Whether the plugin may wait, and so runs in the asynchronous way.
    pub fn waits(&self) -> bool {
        self.grants.upstreams || self.grants.fetch.is_some()
    }

    /// Whether the binary carries it.
    pub fn bundled(&self) -> bool {
        matches!(self.source, Source::Bundled(_))
    }
}
