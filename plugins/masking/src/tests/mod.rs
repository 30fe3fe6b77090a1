//! Documents, configurations and the plugin itself; the corpus is in `tests/corpus.rs`.

mod documents;
mod hooks;
mod laws;
mod texts;

use crate::config::{Config, Settings};
use crate::document::mask;

/// Settings from JSON.
fn settings(config: &str) -> Settings {
    serde_json::from_str::<Config>(config).unwrap().checked().unwrap()
}

/// What becomes of a JSON text under this configuration.
fn masked(config: &str, text: &str) -> String {
    mask(text, &settings(config)).unwrap().text.unwrap_or_else(|| text.to_owned())
}

/// A token that is none: it is put together here.
fn token() -> String {
    ["gh", "p_", &"a1B2c3D4e5F6".repeat(3)].concat()
}

/// The number of a test card that all processors of payments publish.
const CARD: &str = "4111111111111111";
