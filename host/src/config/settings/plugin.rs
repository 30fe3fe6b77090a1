//! Who decides.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, Uri};

/// A plugin that is written down or used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginSettings {
    /// The operator's name for it: its identity and the namespace of its state.
    pub name: Arc<str>,
    /// Where its component comes from.
    pub source: PluginSource,
    /// SHA-256 of the only component that is accepted.
    pub digest: Option<[u8; 32]>,
    /// JSON text of an object: its configuration where a place gives no other.
    pub config: Arc<str>,
    /// Its limits.
    pub limits: PluginLimitSettings,
    /// What it may do.
    pub grants: GrantSettings,
    /// What happens to a call when it fails.
    pub on_error: OnError,
}

/// Where a component comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginSource {
    /// It is part of the binary.
    Bundled,
    /// A file.
    File(PathBuf),
}

/// Limits of a plugin; none = the default of the plugin room, which depends on the hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PluginLimitSettings {
    /// For one decision about a call.
    pub time: Option<Duration>,
    /// Bytes of memory for each instance.
    pub memory: Option<usize>,
    /// Calls at once in one connector, and so instances.
    pub instances: Option<usize>,
}

/// What a plugin may do besides deciding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantSettings {
    /// Request headers that it may read.
    pub headers: Vec<HeaderName>,
    /// Query parameters of requests that it may read where it judges what is visible.
    pub query: Vec<String>,
    /// Headers of the upstream request that it may set or remove.
    pub set_headers: Vec<HeaderName>,
    /// Whether it may send requests to the connector's upstreams.
    pub upstreams: bool,
    /// Whether it may change what sessions have loaded.
    pub reveal: bool,
    /// Origins that it may fetch from: scheme, host and port, such as `https://api.example.com`.
    pub fetch: Vec<Uri>,
    /// Whether names in `fetch` may stand for addresses of private networks.
    pub fetch_private: bool,
}

/// What happens to a call when a plugin fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It is refused.
    #[default]
    Deny,
    /// It goes on as if the plugin had nothing to say.
    Pass,
}

impl OnError {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Pass => "pass",
        }
    }
}
