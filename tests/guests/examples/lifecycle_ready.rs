//! Ready or not, as its configuration says.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// Why the plugin is not ready; none = it is.
    #[serde(default)]
    not_ready: Option<String>,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Readiness for Guest {
    fn ready(&self) -> Result<String, String> {
        match &self.0.not_ready {
            Some(why) => Err(why.clone()),
            None => Ok("all is well".to_owned()),
        }
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(Admit::Pass)
    }
}

plugway_sdk::export!(Guest: readiness, admission);
