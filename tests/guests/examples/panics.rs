//! Panics in `admit`.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Panics in `admit`.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let nothing: Option<Admit> = std::hint::black_box(None);
        #[expect(clippy::expect_used, reason = "the behaviour to be proved")]
        Ok(nothing.expect("this guest panics"))
    }
}

plugway_sdk::export!(Guest: admission);
