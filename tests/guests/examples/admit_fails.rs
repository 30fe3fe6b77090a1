//! A policy that cannot decide and says so: the operator's `on_error` applies, and the instance lives.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// A policy that cannot decide and says so: the operator's `on_error` applies, and the instance lives.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Err(Failure::temporary("the moon is in the wrong place"))
    }
}

plugway_sdk::export!(Guest: admission);
