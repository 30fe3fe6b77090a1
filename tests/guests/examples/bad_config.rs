//! Likes no configuration and says where the fault is.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Never comes to be.
struct Guest;

impl Plugin for Guest {
    type Config = serde_json::Value;

    fn configure(_config: serde_json::Value) -> Result<Self, BadConfig> {
        Err(BadConfig::at("limits.rules[2].rate", "must be above 0"))
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(Admit::Pass)
    }
}

plugway_sdk::export!(Guest: admission);
