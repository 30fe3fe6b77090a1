//! Hides what a request names in the header `X-Hide` and in the parameter `hide`, and says what it read.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_: Self::Config) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

fn named() -> [Option<String>; 2] {
    [listing::header("X-HIDE"), listing::query("hide")]
}

impl Visibility for Guest {
    fn sight(&self, item: &Item<'_>) -> Result<Sight, Failure> {
        if listing::header("authorization").is_some() || listing::header("x-other").is_some() {
            return Err(Failure::new("it reads what it was not granted"));
        }
        let named = named();
        let mut all = named.iter().flatten().flat_map(|names| names.split(',')).map(str::trim);
        Ok(if all.any(|name| name == item.name) { Sight::Hidden } else { Sight::Shown })
    }

    fn notice(&self) -> Option<String> {
        let named = named().into_iter().flatten().collect::<Vec<_>>().join("; ");
        (!named.is_empty()).then(|| format!("Hidden\nfor you: {named}."))
    }
}

plugway_sdk::export!(Guest: visibility);
