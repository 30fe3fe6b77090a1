//! Does with each message of a server what its configuration says of the method; all others pass.

#![cfg(target_family = "wasm")]

use std::collections::BTreeMap;

use plugway_sdk::prelude::*;
use serde_json::json;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", rename_all = "snake_case")]
enum Act {
    /// Refuse it with this sentence.
    Reject(String),
    /// Put this JSON text in place of `params`.
    Replace(String),
    /// Put what can be read about the message in place of `params`.
    Tell,
    /// Say that it cannot be judged.
    Fail,
    /// Panic.
    Trap,
    /// Never come back.
    Loop,
}

struct Guest(BTreeMap<String, Act>);

impl Plugin for Guest {
    type Config = BTreeMap<String, Act>;

    fn configure(config: Self::Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Inbound for Guest {
    fn inbound(&self) -> Result<Onward, Failure> {
        match self.0.get(&call::method()) {
            None => Ok(Onward::Pass),
            Some(Act::Reject(sentence)) => Ok(Onward::refuse(sentence)),
            Some(Act::Replace(params)) => Ok(Onward::Replace(params.clone())),
            Some(Act::Tell) => Onward::params(&told()),
            Some(Act::Fail) => Err(Failure::temporary("the moon is in the wrong place")),
            Some(Act::Trap) => {
                let nothing: Option<Onward> = std::hint::black_box(None);
                #[expect(clippy::expect_used, reason = "the behaviour to be proved")]
                Ok(nothing.expect("this guest panics"))
            }
            Some(Act::Loop) => loop {
                std::hint::black_box(0);
            },
        }
    }
}

fn told() -> serde_json::Value {
    json!({
        "from_upstream": call::direction() == call::Way::FromUpstream,
        "method": call::method(),
        "name": call::name(),
        "target": call::target(),
        "session": call::session(),
        "caller": caller::id(),
        "arguments_len": call::arguments_len(),
        "arguments_json": call::arguments_json(),
        "message": call::argument_json("/message"),
        "era": call::attribute("era"),
    })
}

plugway_sdk::export!(Guest: inbound);
