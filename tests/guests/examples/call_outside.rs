//! Asks about the call in hand where there is none.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Never comes to be.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        log::info(&call::name());
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(Admit::Pass)
    }
}

plugway_sdk::export!(Guest: admission);
