//! Refuses tools by name and counts calls per caller.
//!
//! A complete third-party plugin: nothing but the SDK is needed.

use plugway_sdk::glob;
use plugway_sdk::prelude::*;

/// What the operator writes under `config:`.
#[derive(Debug, Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
pub struct Config {
    /// Tools that nobody may call; `*` stands for any text.
    #[serde(default)]
    refuse: Vec<String>,
}

/// The policy, as its configuration made it.
#[derive(Debug)]
pub struct TeamPolicy(Config);

impl Plugin for TeamPolicy {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        match config.refuse.iter().position(String::is_empty) {
            Some(empty) => {
                Err(BadConfig::at(format!("refuse[{empty}]"), "an empty pattern matches nothing"))
            }
            None => Ok(Self(config)),
        }
    }
}

impl Admission for TeamPolicy {
    fn admit(&self) -> Result<Admit, Failure> {
        let name = call::name();
        if self.0.refuse.iter().any(|pattern| glob::matches(pattern, &name)) {
            return Ok(Admit::refuse(format!(
                "This team does not use {name}; ask for another tool."
            )));
        }
        let calls = state::add(&caller::id(), 1, None);
        Ok(Admit::Edit(vec![Edit::attribute("team-policy/calls", calls.to_string())]))
    }
}

plugway_sdk::export!(TeamPolicy: admission);

#[cfg(test)]
mod tests;
