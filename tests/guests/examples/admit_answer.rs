//! Answers every call itself, with the text of its configuration.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// The text of the result.
    text: String,
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
        Ok(Admit::Answer(plugway_sdk::answer::text(&self.0.text)))
    }
}

plugway_sdk::export!(Guest: admission);
