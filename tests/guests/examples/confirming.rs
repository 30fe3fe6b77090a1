//! Wants the person at the client to confirm calls.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// Names that have to be confirmed; none = all.
    #[serde(default)]
    only: Vec<String>,
    /// What the person is told.
    #[serde(default)]
    says: Option<String>,
    /// Looks at the arguments.
    #[serde(default)]
    reads: bool,
}

/// Wants the person at the client to confirm calls.
struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let name = call::name();
        if !self.0.only.is_empty() && !self.0.only.contains(&name) {
            return Ok(Admit::Pass);
        }
        let seen = if self.0.reads { call::argument_json("") } else { None };
        let says = self.0.says.clone().unwrap_or_else(|| format!("Really call {name}?"));
        Ok(Admit::confirm(says + &seen.unwrap_or_default()))
    }
}

plugway_sdk::export!(Guest: admission);
