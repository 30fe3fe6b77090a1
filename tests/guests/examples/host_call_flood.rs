//! Asks the host without end.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Asks the host without end.
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
            std::hint::black_box(random::next());
        }
    }
}

plugway_sdk::export!(Guest: admission);
