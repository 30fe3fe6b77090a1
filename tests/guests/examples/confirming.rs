//! Wants the person at the client to confirm each call.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Wants the person at the client to confirm each call.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(Admit::Confirm(format!("Really call {}?", call::name())))
    }
}

plugway_sdk::export!(Guest: admission);
