//! Exports nothing but `lifecycle`.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Decides nothing.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

plugway_sdk::export!(Guest);
