//! Imports an interface outside the contract.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Imports an interface outside the contract.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(if bindings::acme::things::oracle::ask("may it pass?") {
            Admit::Pass
        } else {
            Admit::refuse("The oracle says no.")
        })
    }
}

mod bindings {
    plugway_sdk::wit_bindgen::generate!({
        inline: "
        package acme:things@1.0.0;
        interface oracle { ask: func(question: string) -> bool; }
        world w { import oracle; }
    ",
        runtime_path: "plugway_sdk::wit_bindgen::rt",
    });
}

plugway_sdk::export!(Guest: admission);
