//! A component that is compiled, checked and linked: everything that its instances share.

use std::sync::Arc;

use plugway_bindings::Found;
use wasmtime::component::InstancePre;

use super::ctx::Ctx;
use super::inspect::Kind;

/// One version of a plugin.
pub(super) struct Compiled {
    /// Linked, ready to be instantiated.
    pub(super) pre: InstancePre<Ctx>,
    /// Its hooks.
    pub(super) found: Found,
    /// What it is for.
    pub(super) kind: Kind,
    /// Whether its calls may wait, and so run in the asynchronous way.
    pub(super) waits: bool,
    /// Whether it reads requests where it judges what is visible.
    pub(super) reads_requests: bool,
    /// SHA-256 of the component.
    pub(super) digest: [u8; 32],
    /// What it says about itself.
    pub(super) info: Arc<Info>,
}

/// What a plugin says about itself; never its identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Its own name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its configuration, or empty.
    pub config_schema: String,
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled")
            .field("kind", &self.kind)
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
