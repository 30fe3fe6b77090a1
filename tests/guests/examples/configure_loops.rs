//! Never comes back from `configure`.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Never comes to be.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        loop {
            std::hint::black_box(0);
        }
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(Admit::Pass)
    }
}

plugway_sdk::export!(Guest: admission);
