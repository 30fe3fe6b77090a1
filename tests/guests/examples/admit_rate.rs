//! Limits calls per caller, and counts them, through `state`.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// Calls in a window.
    limit: u32,
    /// Length of the window.
    window_ms: u32,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let caller = caller::id();
        if call::retry_of().is_some() {
            return Ok(Admit::Pass);
        }
        if let Err(wait) = state::take(&format!("rate/{caller}"), 1, self.0.limit, self.0.window_ms)
        {
            let message = format!("Too many calls; try again in {wait} ms.");
            return Ok(Admit::Reject(Rejection::new(message).retry_after(wait)));
        }
        let calls = state::add(&format!("calls/{caller}"), 1, None);
        Ok(Admit::Edit(vec![Edit::attribute("admit_rate/calls", calls.to_string())]))
    }
}

plugway_sdk::export!(Guest: admission);
