//! Takes and touches memory until there is none.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Takes and touches memory until there is none.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let mut hoard = Vec::new();
        loop {
            hoard.push(vec![1_u8; 1 << 20]);
            std::hint::black_box(&mut hoard);
        }
    }
}

plugway_sdk::export!(Guest: admission);
