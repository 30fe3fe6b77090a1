//! Writes far too many lines, to the log and to standard error, then lets the call pass.

#![cfg(target_family = "wasm")]

use std::io::Write as _;

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// Lines to each of the two.
    #[serde(default = "many")]
    lines: u32,
    /// Length of a line.
    #[serde(default = "long")]
    length: usize,
}

fn many() -> u32 {
    2_000
}

fn long() -> usize {
    1_000
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
        let line = "x".repeat(self.0.length);
        let mut stderr = std::io::stderr().lock();
        for _ in 0..self.0.lines {
            log::warn(&line);
            writeln!(stderr, "{line}").map_err(|error| Failure::new(error.to_string()))?;
        }
        Ok(Admit::Pass)
    }
}

plugway_sdk::export!(Guest: admission);
