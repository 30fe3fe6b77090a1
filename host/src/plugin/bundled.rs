//! The plugins that the binary carries.

use super::spec::{Grants, PluginSpec, Source};

/// The default router.
pub const ROUTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_router.wasm"));

/// The default router under a name, with what it is granted: it asks upstreams for skills that callers want to load.
pub fn router(name: impl Into<std::sync::Arc<str>>) -> PluginSpec {
    let grants = Grants { upstreams: true, ..Grants::default() };
    PluginSpec { grants, ..PluginSpec::new(name, Source::Bundled(ROUTER)) }
}
