//! Traps on every third call of all its instances together.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Traps on every third call of all its instances together.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        if state::next(0) % 3 == 2 {
            core::arch::wasm32::unreachable();
        }
        Ok(Admit::Pass)
    }
}

plugway_sdk::export!(Guest: admission);
