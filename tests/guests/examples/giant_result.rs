//! Answers with 40 MB.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Answers with 40 MB.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(Admit::Answer(plugway_sdk::answer::text(&"x".repeat(40_000_000))))
    }
}

plugway_sdk::export!(Guest: admission);
