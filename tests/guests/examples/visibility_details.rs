//! Judges by everything that `listing` tells: hides upstream names and titles that its configuration lists.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// Hidden by the upstream's own name.
    #[serde(default)]
    own_names: Vec<String>,
    /// Hidden by title.
    #[serde(default)]
    titles: Vec<String>,
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
        if listing::digest(item.index).is_empty()
            || listing::attribute(item.index, "no-such-key").is_some()
        {
            return Err(Failure::new("an item has no digest, or an attribute that nobody knows"));
        }
        let title = listing::attribute(item.index, "title");
        let hidden = self.0.own_names.contains(&listing::upstream_name(item.index))
            || title.is_some_and(|title| self.0.titles.contains(&title));
        Ok(if hidden { Sight::Hidden } else { Sight::Shown })
    }
}

plugway_sdk::export!(Guest: visibility);
