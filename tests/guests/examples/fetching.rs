//! A router with a tool of its own, `fetch`, that fetches what it is told, `times` times. Needs a grant of `fetch`.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;
use serde_json::{Value, json};

/// Serves one tool and hides all others.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

const FETCH: &str =
    r#"{"name":"fetch","description":"Fetch a URL.","inputSchema":{"type":"object"}}"#;

#[derive(Deserialize)]
struct Wanted {
    url: String,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: usize,
    #[serde(default)]
    timeout_ms: u32,
    #[serde(default)]
    times: u32,
}

impl Router for Guest {
    fn shape(&self, _connector: ConnectorView) -> Result<Shaped, Failure> {
        Ok(Shaped { entries: vec![Entry::local_tool(FETCH)], ..Shaped::default() })
    }
}

impl Answering for Guest {
    fn answer(&self) -> Result<Reply, Failure> {
        let wanted: Wanted = call::arguments()?;
        let request = fetch::Outgoing {
            method: wanted.method.unwrap_or_else(|| "GET".to_owned()),
            url: wanted.url,
            headers: wanted.headers,
            body: vec![b'x'; wanted.body],
            timeout_ms: wanted.timeout_ms,
        };
        let mut seen = Value::Null;
        for _ in 0..wanted.times.max(1) {
            seen = match fetch::send(&request) {
                Ok(answer) => json!({
                    "status": answer.status,
                    "headers": answer.headers,
                    "body": String::from_utf8_lossy(&answer.body),
                }),
                Err(error) => json!({ "error": error }),
            };
        }
        let result = json!({ "content": [], "structuredContent": seen });
        Ok(Reply::Answer(result.to_string()))
    }
}

plugway_sdk::export!(Guest: router, answering);
