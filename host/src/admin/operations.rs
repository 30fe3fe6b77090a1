//! What this room needs from others.

use std::sync::Arc;

use serde::Serialize;

use crate::pipeline::port::Promise;

/// A plugin as the operator sees it.
#[derive(Clone, Debug, Serialize)]
pub struct PluginState {
    /// The operator's name for it.
    pub name: Arc<str>,
    /// `router` or `policy`.
    pub kind: &'static str,
    /// What the component calls itself.
    pub component: String,
    /// The component's version, as it says it.
    pub version: String,
    /// SHA-256 of the component that serves, in hexadecimal digits.
    pub digest: String,
    /// Whether the operator put it out of use.
    pub disabled: bool,
    /// Why the file on disk is not what serves; none where it is.
    pub degraded: Option<Arc<str>>,
    /// Where it is used.
    pub places: Vec<PluginPlaceState>,
}

/// A plugin in one connector.
#[derive(Clone, Debug, Serialize)]
pub struct PluginPlaceState {
    /// The connector.
    pub connector: Arc<str>,
    /// Counts up with every swap.
    pub generation: u64,
    /// Instances that live now.
    pub instances: u64,
    /// Calls of its hooks so far.
    pub calls: u64,
    /// Failures so far.
    pub errors: u64,
    /// Whether it is put aside after repeated failures.
    pub aside: bool,
}

/// What others do for an administrator.
pub trait Operations: Send + Sync {
    /// Every loaded plugin.
    fn plugins(&self) -> Vec<PluginState>;
    /// Who registered the upstream of a connector, where the configuration does not say where it is.
    fn holder(&self, connector: &str, upstream: &str) -> Option<Arc<str>>;
    /// Puts a plugin out of use in every connector, or back; says whether there is one of that name.
    fn disable_plugin(&self, name: &str, out: bool) -> bool;
    /// Reads the configuration again: what changed, a line each, or one sentence why the old one goes on serving.
    fn reload(&self) -> Promise<'_, Result<Vec<String>, String>>;
}
