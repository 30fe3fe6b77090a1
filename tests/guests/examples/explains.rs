//! Hides what its entries name, and says how it understood them: `own:NAME` by the server's own name, any other as a glob on the
//! shown name. `fails` fails, `torn` gives a place that no page has.

#![cfg(target_family = "wasm")]

use plugway_sdk::glob;
use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    hide: Vec<String>,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

fn is_meant(entry: &str, item: &Item<'_>) -> bool {
    match entry.strip_prefix("own:") {
        Some(own) => listing::upstream_name(item.index) == own,
        None => glob::matches(entry, item.name),
    }
}

impl Visibility for Guest {
    fn sight(&self, item: &Item<'_>) -> Result<Sight, Failure> {
        let hidden = self.0.hide.iter().any(|entry| is_meant(entry, item));
        Ok(if hidden { Sight::Hidden } else { Sight::Shown })
    }
}

impl Explaining for Guest {
    fn explain(&self, page: Page) -> Result<Vec<Understood>, Failure> {
        let items = page.items()?;
        let understood = self.0.hide.iter().map(|entry| {
            let how =
                if entry.starts_with("own:") { "a server's own name" } else { "a shown name" };
            let mut understood = Understood::new(entry, format!("hides by {how}"));
            let meant = items.iter().filter(|item| is_meant(entry, item));
            understood.matches = meant.map(|item| item.index).collect();
            match entry.as_str() {
                "fails" => return Err(Failure::new("there is nothing to say")),
                "torn" => understood.matches.push(1_000_000),
                _ => {}
            }
            Ok(understood)
        });
        understood.collect()
    }
}

plugway_sdk::export!(Guest: visibility, explaining);
