//! A transfer handler with a filter that turns every byte round.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Knows one destination.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

struct TurnRound;

impl Transfer for Guest {
    fn destinations(&self) -> Result<Vec<Destination>, Failure> {
        Ok(vec![Destination { name: "shelf".to_owned(), description: "The only one.".to_owned() }])
    }

    fn open(&self, thing: Payload, _to: String) -> Result<Plan, Failure> {
        Ok(Plan { route: Way::Store(("shelf".to_owned(), thing.name)), filtered: true })
    }
}

impl Filtering for Guest {
    type Filter = TurnRound;

    fn filter(&self, _thing: Payload, _to: String) -> Result<TurnRound, Failure> {
        Ok(TurnRound)
    }
}

impl Filter for TurnRound {
    fn chunk(&mut self, data: Vec<u8>) -> Result<Vec<u8>, Failure> {
        Ok(data.into_iter().map(|byte| !byte).collect())
    }
}

plugway_sdk::export!(Guest: transfer, filtering);
