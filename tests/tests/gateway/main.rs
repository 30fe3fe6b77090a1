//! The bundled policy `gateway`: what it lets whom do, and how often.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

mod changes;
mod claims;
mod code;
mod judged;
mod limits;
mod lists;
mod rules;
mod together;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Hub, rpc::Client};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// The connector with this gateway.
fn with(hub: Hub, config: Value) -> Hub {
    hub.bundled("gateway", config)
}

/// A call of a tool: the text of its result, and whether it is an error.
async fn call(client: &Client, tool: &str, arguments: Value) -> Result<(String, bool)> {
    let reply = client.call("tools/call", json!({"name": tool, "arguments": arguments})).await?;
    let result = reply.result()?;
    let text = result["content"][0]["text"].as_str().with_context(|| format!("{result}"))?;
    Ok((text.to_owned(), result["isError"] == true))
}

/// What the reference says of a blocked tool.
fn blocked(name: &str) -> (String, bool) {
    let text =
        format!(r#"{{"success": false, "error": "Tool '{name}' is blocked by gateway policy."}}"#);
    (text, true)
}

/// The call is refused, in the words of the reference.
async fn is_blocked(client: &Client, tool: &str, arguments: Value) -> Result<()> {
    let said = call(client, tool, arguments).await?;
    ensure!(said == blocked(tool), "{tool}: {said:?}");
    Ok(())
}

/// Names, or URIs, of a list.
async fn listed(client: &Client, method: &str, member: &str, key: &str) -> Result<Vec<String>> {
    let reply = client.call(method, json!({})).await?;
    let entries = reply.result()?[member].as_array().context("no list")?.clone();
    Ok(entries.iter().filter_map(|entry| Some(entry[key].as_str()?.to_owned())).collect())
}
