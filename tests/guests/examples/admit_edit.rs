//! Changes a call as its configuration says: arguments, headers, attributes.

#![cfg(target_family = "wasm")]

use std::collections::BTreeMap;

use plugway_sdk::prelude::*;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// Merged into the arguments (RFC 7396).
    #[serde(default)]
    arguments: Option<Value>,
    /// Set.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Removed.
    #[serde(default)]
    remove_headers: Vec<String>,
    /// Set for later plugins.
    #[serde(default)]
    attributes: BTreeMap<String, String>,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let mut edits = Vec::new();
        if let Some(patch) = &self.0.arguments {
            edits.push(Edit::arguments(patch)?);
        }
        edits.extend(self.0.headers.iter().map(|(name, value)| Edit::header(name, value)));
        edits.extend(self.0.remove_headers.iter().cloned().map(Edit::RemoveHeader));
        edits.extend(self.0.attributes.iter().map(|(key, value)| Edit::attribute(key, value)));
        Ok(Admit::Edit(edits))
    }
}

plugway_sdk::export!(Guest: admission);
