//! Traps when the argument `boom` is true.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Traps when the argument `boom` is true.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        if call::argument("/boom")? == Some(true) {
            core::arch::wasm32::unreachable();
        }
        Ok(Admit::Pass)
    }
}

plugway_sdk::export!(Guest: admission);
