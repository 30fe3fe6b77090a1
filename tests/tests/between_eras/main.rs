//! What servers ask, between the eras: a server of the one era asks a client of the other
//! (docs/decisions/0017-questions-between-the-eras.md).

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::time::Duration;

use anyhow::{Context as _, Result};
use plugway_tests::{Plugway, replay::Replayed};
use serde_json::{Value, json};

mod legacy_client;
mod modern_client;
mod states;

const BOUND: Duration = Duration::from_secs(20);

/// Everything that a client may be asked.
fn everything() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

fn hub(server: &Replayed) -> Result<String> {
    Ok(json!({"name": "hub", "upstreams": [server.upstream("up")?]}).to_string())
}

async fn start(server: &Replayed) -> Result<Plugway> {
    Plugway::start(hub(server)?).await
}

fn text_of(result: &Value) -> Result<&str> {
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    text.with_context(|| format!("no text in {result}"))
}

/// A recorded exchange, as lines.
fn exchange(name: &str, steps: &[(&str, Value)]) -> String {
    let steps = steps.iter().map(|(whose, message)| {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        json!({ (*whose): message }).to_string()
    });
    let lines: Vec<String> =
        [json!({"exchange": name}).to_string()].into_iter().chain(steps).collect();
    lines.join("\n") + "\n"
}
