//! Never comes back from `admit`.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Never comes back from `admit`.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        loop {
            std::hint::black_box(0);
        }
    }
}

plugway_sdk::export!(Guest: admission);
