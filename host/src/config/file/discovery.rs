//! Whether clients list every tool of a connector.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Span;

/// Whether clients list every tool of a connector: a word, or a set of keys with `mode`.
#[derive(Clone, Debug, Default)]
pub struct DiscoveryUse {
    /// The way.
    pub mode: Option<DiscoveryMode>,
    /// With `lazy`: globs over the names that clients see of the tools that are always listed.
    pub residents: Option<Vec<String>>,
    /// With `lazy`: tools that one session may have loaded at once.
    pub cap: Option<u32>,
    /// With `lazy`: a loaded tool that is not used for so long is unloaded.
    pub idle: Option<Span>,
}

/// A way to discover the tools of a connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "discovery-mode", rename_all = "kebab-case")]
pub enum DiscoveryMode {
    /// Every tool is listed.
    Eager,
    /// A few tools are listed; clients find the others, and load them or call them through `call_tool`.
    Lazy,
}

impl<'de> Deserialize<'de> for DiscoveryUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(rename = "discovery", deny_unknown_fields, default)]
        struct Full {
            mode: Option<DiscoveryMode>,
            residents: Option<Vec<String>>,
            cap: Option<u32>,
            idle: Option<Span>,
        }
        struct DiscoveryVisitor;
        impl<'de> Visitor<'de> for DiscoveryVisitor {
            type Value = DiscoveryUse;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`eager`, `lazy`, or `{mode: lazy, residents: [GLOB]}`")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<DiscoveryUse, E> {
                let mode = DiscoveryMode::deserialize(word.into_deserializer())?;
                Ok(DiscoveryUse { mode: Some(mode), ..DiscoveryUse::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<DiscoveryUse, A::Error> {
                let full = Full::deserialize(de::value::MapAccessDeserializer::new(access))?;
                let Full { mode, residents, cap, idle } = full;
                Ok(DiscoveryUse { mode, residents, cap, idle })
            }
        }
        let keys = &["mode", "residents", "cap", "idle"];
        deserializer.deserialize_struct("discovery", keys, DiscoveryVisitor)
    }
}
