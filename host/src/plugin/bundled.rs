//! The plugins that the binary carries.

use std::sync::Arc;

use super::limits::MEMORY_MIB_ROUTER;
use super::spec::{Grants, Limits, PluginSpec, Source};

/// The default router.
pub const ROUTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_router.wasm"));

/// The policy `gateway`: lists, limits, rules and confirmations.
pub const GATEWAY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_gateway.wasm"));

/// What makes each of them, by the name under which operators use it.
const ALL: &[(&str, Made)] = &[("router", router::<Arc<str>>), ("gateway", gateway::<Arc<str>>)];

type Made = fn(Arc<str>) -> PluginSpec;

/// The bundled plugin of that name, under it; none where there is no such plugin.
pub fn named(name: &Arc<str>) -> Option<PluginSpec> {
    let (_, made) = ALL.iter().find(|(own, _)| **own == **name)?;
    Some(made(name.clone()))
}

/// The policy `gateway` under a name. It needs no grant.
pub fn gateway<N: Into<Arc<str>>>(name: N) -> PluginSpec {
    PluginSpec::new(name, Source::Bundled(GATEWAY))
}

/// The default router under a name, with what it is granted: it asks upstreams for skills that callers want to load and about
/// ids that nobody has, and loads tools into the lists of sessions. While it shapes, it has what all servers list in its hands.
pub fn router<N: Into<Arc<str>>>(name: N) -> PluginSpec {
    let grants = Grants { upstreams: true, reveal: true, ..Grants::default() };
    let limits = Limits { memory_mib: MEMORY_MIB_ROUTER, ..Limits::default() };
    PluginSpec { limits, grants, ..PluginSpec::new(name, Source::Bundled(ROUTER)) }
}
