//! Replaces every answer by what `outcome` says of it.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;
use serde_json::{Value, json};

/// Tells all about an answer.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Reviewing for Guest {
    fn review(&self) -> Result<Review, Failure> {
        let first: Option<Value> = outcome::field(0, "/content/0/text")?;
        let seen = json!({
            "count": outcome::count(),
            "worker": outcome::worker(0),
            "failed": outcome::failed(0),
            "dispatched": outcome::dispatched(0),
            "is_error": outcome::is_error(0),
            "latency_us": outcome::latency_us(0),
            "body_len": outcome::body_len(0),
            "body": outcome::body(0),
            "first_text": first,
            "past_the_end": outcome::body(7),
        });
        plugway_sdk::answer::structured(&seen).map(Review::Replace)
    }
}

plugway_sdk::export!(Guest: reviewing);
