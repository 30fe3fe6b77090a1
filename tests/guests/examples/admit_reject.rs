//! Refuses every call in the words of its configuration.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// One sentence.
    #[serde(default = "no")]
    message: String,
    /// A JSON-RPC error code; none = a tool result.
    #[serde(default)]
    code: Option<i32>,
    /// Shown instead of the message.
    #[serde(default)]
    body: Option<String>,
    /// When to try again.
    #[serde(default)]
    retry_after_ms: Option<u32>,
    /// For the log alone.
    #[serde(default)]
    cause: Option<String>,
}

fn no() -> String {
    "This call is refused.".to_owned()
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
        let Config { message, code, body, retry_after_ms, cause } = &self.0;
        Ok(Admit::Reject(Rejection {
            code: *code,
            message: message.clone(),
            body: body.clone(),
            retry_after_ms: *retry_after_ms,
            cause: cause.clone(),
        }))
    }
}

plugway_sdk::export!(Guest: admission);
