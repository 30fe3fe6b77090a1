//! A policy that looks at what servers send toward the client.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Lets all but elicitation pass.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Inbound for Guest {
    fn inbound(&self) -> Result<Onward, Failure> {
        if call::direction() == call::Way::FromUpstream && call::method() == "elicitation/create" {
            return Ok(Onward::Reject(Rejection::new(
                "Questions to the person are not allowed here.",
            )));
        }
        Ok(Onward::Pass)
    }
}

plugway_sdk::export!(Guest: inbound);
