//! A router that keeps the servers' names and sends each call where its argument `server` says.

#![cfg(target_family = "wasm")]

use std::collections::BTreeSet;

use plugway_sdk::prelude::*;

/// Every tool is dynamic; of equal names the first is listed.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Router for Guest {
    fn shape(&self, connector: ConnectorView) -> Result<Shaped, Failure> {
        let mut seen = BTreeSet::new();
        let mut entries = Vec::new();
        for definition in connector.upstreams.into_iter().flat_map(|upstream| upstream.tools) {
            if seen.insert(name_of(&definition)?) {
                entries.push(Entry::dynamic_tool(definition));
            }
        }
        Ok(Shaped { entries, ..Shaped::default() })
    }
}

impl Routing for Guest {
    fn route(&self) -> Result<Route, Failure> {
        match call::argument("/server")? {
            Some(server) => Ok(Route::Forward((server, call::name()))),
            None => Ok(Route::Reject(Rejection::new("Say which server in the argument `server`."))),
        }
    }
}

/// The name in a tool's definition.
fn name_of(definition: &str) -> Result<String, Failure> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    Ok(serde_json::from_str::<Named>(definition)?.name)
}

plugway_sdk::export!(Guest: router, routing);
