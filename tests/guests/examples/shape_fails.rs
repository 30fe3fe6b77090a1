//! A router that cannot shape: says so, traps, or never comes back, as its configuration says.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    #[serde(default)]
    how: How,
    /// Fails only while an upstream of this name is there; none = always.
    #[serde(default)]
    while_there: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(crate = "plugway_sdk::serde", rename_all = "lowercase")]
enum How {
    #[default]
    Failure,
    Trap,
    Loop,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Router for Guest {
    fn shape(&self, connector: ConnectorView) -> Result<Shaped, Failure> {
        let there = |name: &String| connector.upstreams.iter().any(|one| one.name == *name);
        if !self.0.while_there.as_ref().is_none_or(there) {
            let tool = r#"{"name":"shaped","inputSchema":{"type":"object"}}"#;
            return Ok(Shaped { entries: vec![Entry::dynamic_tool(tool)], ..Shaped::default() });
        }
        match self.0.how {
            How::Failure => Err(Failure::new("this router cannot shape")),
            How::Trap => core::arch::wasm32::unreachable(),
            How::Loop => loop {
                std::hint::black_box(0);
            },
        }
    }
}

plugway_sdk::export!(Guest: router);
