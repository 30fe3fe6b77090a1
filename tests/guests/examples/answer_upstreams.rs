//! A router with a tool of its own, `ask`, that sends what it is told to an upstream. Needs the grant `upstreams`.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;
use serde_json::Value;

/// Serves one tool and hides all others.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

const ASK: &str =
    r#"{"name":"ask","description":"Ask an upstream.","inputSchema":{"type":"object"}}"#;

#[derive(Deserialize)]
struct Question {
    upstream: String,
    method: String,
    params: Value,
}

impl Router for Guest {
    fn shape(&self, _connector: ConnectorView) -> Result<Shaped, Failure> {
        Ok(Shaped { entries: vec![Entry::local_tool(ASK)], ..Shaped::default() })
    }
}

impl Answering for Guest {
    fn answer(&self) -> Result<Reply, Failure> {
        let question: Question = call::arguments()?;
        let params = question.params.to_string();
        match upstreams::request(&question.upstream, &question.method, &params) {
            Ok(result) => Ok(Reply::Answer(result)),
            Err(error) => Ok(Reply::Answer(plugway_sdk::answer::error_text(&error))),
        }
    }
}

plugway_sdk::export!(Guest: router, answering);
