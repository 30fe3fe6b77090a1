//! A router and a policy in one component.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Wants to be both.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Router for Guest {
    fn shape(&self, _connector: ConnectorView) -> Result<Shaped, Failure> {
        Ok(Shaped::default())
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(Admit::Pass)
    }
}

plugway_sdk::export!(Guest: router, admission);
