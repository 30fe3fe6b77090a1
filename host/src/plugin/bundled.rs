//! The plugins that the binary carries.

use super::limits::{MEMORY_MIB_ROUTER, TIME_MASKING};
use super::spec::{Grants, Limits, PluginSpec, Source};

/// The default router.
pub const ROUTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_router.wasm"));

/// The policy that masks secrets and personal data.
pub const MASKING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_masking.wasm"));

/// A bundled plugin under the operator's name for it, which is its own; none for a name that none has.
pub fn named(name: &std::sync::Arc<str>) -> Option<PluginSpec> {
    match &**name {
        "masking" => Some(masking(name.clone())),
        "router" => Some(router(name.clone())),
        _ => None,
    }
}

/// The default router under a name, with what it is granted: it asks upstreams for skills that callers want to load and about
/// ids that nobody has, and loads tools into the lists of sessions. While it shapes, it has what all servers list in its hands.
pub fn router(name: impl Into<std::sync::Arc<str>>) -> PluginSpec {
    let grants = Grants { upstreams: true, reveal: true, ..Grants::default() };
    let limits = Limits { memory_mib: MEMORY_MIB_ROUTER, ..Limits::default() };
    PluginSpec { limits, grants, ..PluginSpec::new(name, Source::Bundled(ROUTER)) }
}

/// The masking policy under a name. It reads whole answers, so it has more time than what decides by a name.
pub fn masking(name: impl Into<std::sync::Arc<str>>) -> PluginSpec {
    let limits = Limits { time: TIME_MASKING, ..Limits::default() };
    PluginSpec { limits, ..PluginSpec::new(name, Source::Bundled(MASKING)) }
}
