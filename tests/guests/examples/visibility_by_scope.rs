//! Hides or unlists names from callers who lack a scope.

#![cfg(target_family = "wasm")]

use plugway_sdk::glob;
use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// Names that are unknown to callers without the scope.
    #[serde(default)]
    hide: Vec<String>,
    /// Names that are not listed to callers without the scope.
    #[serde(default)]
    unlist: Vec<String>,
    /// The scope that shows all; none = nobody has it.
    #[serde(default)]
    scope: Option<String>,
    /// How long a view holds.
    #[serde(default)]
    valid_ms: Option<u32>,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Visibility for Guest {
    fn sight(&self, item: &Item<'_>) -> Result<Sight, Failure> {
        let in_list =
            |globs: &[String]| globs.iter().any(|pattern| glob::matches(pattern, item.name));
        if self.0.scope.as_deref().is_some_and(caller::has_scope) {
            return Ok(Sight::Shown);
        }
        if in_list(&self.0.hide) || item.has_tag("secret") {
            return Ok(Sight::Hidden);
        }
        Ok(if in_list(&self.0.unlist) { Sight::Unlisted } else { Sight::Shown })
    }

    fn valid_ms(&self) -> Option<u32> {
        self.0.valid_ms
    }
}

plugway_sdk::export!(Guest: visibility);
