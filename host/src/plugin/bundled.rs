//! The plugins that the binary carries.

use std::sync::Arc;

use super::limits::{MEMORY_MIB_ROUTER, TIME_MASKING};
use super::spec::{Grants, Limits, PluginSpec, Source};

/// The default router.
pub const ROUTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_router.wasm"));
/// The policy that shows what lists of names and tags say.
pub const VISIBILITY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_visibility.wasm"));

/// The policy `gateway`: lists, limits, rules and confirmations.
pub const GATEWAY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_gateway.wasm"));

/// The policy that masks secrets and personal data.
pub const MASKING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_masking.wasm"));

/// Query parameters by which clients say what they want to see.
const FILTERS: [&str; 13] = [
    "tools",
    "toolsets",
    "disabled_tools",
    "disabled_toolsets",
    "prompts",
    "disabled_prompts",
    "resources",
    "disabled_resources",
    "tags",
    "disabled_tags",
    "q",
    "query",
    "search",
];
/// Headers by which they do.
const FILTER_HEADERS: [&str; 12] = [
    "x-mcp-enabled-tools",
    "x-mcp-disabled-tools",
    "x-mcp-enabled-prompts",
    "x-mcp-disabled-prompts",
    "x-mcp-enabled-resources",
    "x-mcp-disabled-resources",
    "x-mcp-enabled-components",
    "x-mcp-disabled-components",
    "x-mcp-enabled-tags",
    "x-mcp-disabled-tags",
    "x-mcp-query",
    "x-mcp-search",
];

/// How each is made under a name.
type Making = fn(Arc<str>) -> PluginSpec;

/// Each by the name that it has in configurations.
const ALL: &[(&str, Making)] = &[
    ("router", router::<Arc<str>>),
    ("visibility", visibility::<Arc<str>>),
    ("gateway", gateway::<Arc<str>>),
    ("masking", masking::<Arc<str>>),
];

/// The plugin that has this name in configurations, with what it is granted.
pub fn of(name: &Arc<str>) -> Option<PluginSpec> {
    let known = ALL.iter().find(|(own, _)| **own == **name);
    known.map(|(_, make)| make(name.clone()))
}

/// The policy `gateway` under a name. It needs no grant.
pub fn gateway<N: Into<Arc<str>>>(name: N) -> PluginSpec {
    PluginSpec::new(name, Source::Bundled(GATEWAY))
}

/// The masking policy under a name. It reads whole answers, so it has more time than what decides by a name.
pub fn masking<N: Into<Arc<str>>>(name: N) -> PluginSpec {
    let limits = Limits { time: TIME_MASKING, ..Limits::default() };
    PluginSpec { limits, ..PluginSpec::new(name, Source::Bundled(MASKING)) }
}

/// The default router under a name, with what it is granted: it asks upstreams for skills that callers want to load and about
/// ids that nobody has, and loads tools into the lists of sessions. While it shapes, it has what all servers list in its hands.
pub fn router<N: Into<Arc<str>>>(name: N) -> PluginSpec {
    let grants = Grants { upstreams: true, reveal: true, ..Grants::default() };
    let limits = Limits { memory_mib: MEMORY_MIB_ROUTER, ..Limits::default() };
    PluginSpec { limits, grants, ..PluginSpec::new(name, Source::Bundled(ROUTER)) }
}

/// The visibility policy under a name: it reads what a request says about what is to be shown.
pub fn visibility<N: Into<Arc<str>>>(name: N) -> PluginSpec {
    let texts = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
    let (headers, query) = (texts(&FILTER_HEADERS), texts(&FILTERS));
    let grants = Grants { headers, query, ..Grants::default() };
    PluginSpec { grants, ..PluginSpec::new(name, Source::Bundled(VISIBILITY)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name() {
        for (name, _) in ALL {
            assert!(of(&(*name).into()).is_some_and(|spec| &*spec.key == *name && spec.bundled()));
        }
        assert!(of(&"other".into()).is_none());
    }
}
