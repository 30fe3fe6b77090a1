//! Imports `fetch`, which somebody has to grant.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Imports `fetch`, which somebody has to grant.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let answer = fetch::send(&fetch::Outgoing::get("https://example.com/"))
            .map_err(Failure::temporary)?;
        Ok(if answer.status == 200 { Admit::Pass } else { Admit::refuse("example.com is away") })
    }
}

plugway_sdk::export!(Guest: admission);
