//! Servers that ask their client, as upstreams.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::{DemoHttp, binary};

/// Starts one over HTTP.
pub async fn over_http() -> Result<DemoHttp> {
    DemoHttp::start_program("asking-server", "127.0.0.1:0", &[]).await
}

/// One as an upstream over stdio, with these keys of its own: a line of YAML.
pub fn over_stdio(name: &str, keys: &str) -> Result<String> {
    let path = binary::find("asking-server")?;
    Ok(format!("{{name: {name}, command: '{}', args: [--stdio]{keys}}}", path.display()))
}

/// Arguments for its tools: an elicitation with this message.
pub fn elicitation(message: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

/// What the person said: this word.
pub fn accepted(word: &str) -> Value {
    json!({"action": "accept", "content": {"word": word}})
}

/// What one of its tools gives, in the text of its result.
pub fn outcome(result: &Value) -> Result<Value> {
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    let text = text.with_context(|| format!("no text in {result}"))?;
    Ok(serde_json::from_str(text)?)
}
