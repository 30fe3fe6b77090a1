//! Replaces a text in every answer, or refuses answers that hold another one.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// What to look for in the JSON of the answer.
    from: String,
    /// What to put in its place.
    to: String,
    /// Answers that hold this are refused.
    #[serde(default)]
    refuse: Option<String>,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Reviewing for Guest {
    fn review(&self) -> Result<Review, Failure> {
        if outcome::failed(0).is_some() || outcome::is_error(0) || outcome::count() != 1 {
            return Ok(Review::Keep);
        }
        let body = outcome::body(0);
        if self.0.refuse.as_ref().is_some_and(|text| body.contains(text)) {
            return Ok(Review::refuse("The answer holds what may not leave."));
        }
        if !body.contains(&self.0.from) {
            return Ok(Review::Keep);
        }
        Ok(Review::Replace(body.replace(&self.0.from, &self.0.to)))
    }
}

plugway_sdk::export!(Guest: reviewing);
