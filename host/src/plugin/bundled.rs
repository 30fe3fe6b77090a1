//! The plugins that the binary carries.

use super::limits::MEMORY_MIB_ROUTER;
use super::spec::{Grants, Limits, PluginSpec, Source};

/// The default router.
pub const ROUTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_router.wasm"));

/// The default router under a name, with what it is granted: it asks upstreams for skills that callers want to load and about
/// ids that nobody has, and loads tools into the lists of sessions. While it shapes, it has what all servers list in its hands.
pub fn router(name: impl Into<std::sync::Arc<str>>) -> PluginSpec {
    let grants = Grants { upstreams: true, reveal: true, ..Grants::default() };
    let limits = Limits { memory_mib: MEMORY_MIB_ROUTER, ..Limits::default() };
    PluginSpec { limits, grants, ..PluginSpec::new(name, Source::Bundled(ROUTER)) }
}
