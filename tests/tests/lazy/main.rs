//! Lazy discovery through the real binary, in both eras.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Hub, rpc::Client};
use serde_json::{Value, json};

mod called;
mod changes;
mod modern;
mod sessions;

const BOUND: Duration = Duration::from_secs(20);

/// What a client lists that has loaded nothing, where nothing is a resident.
const OWN: [&str; 5] = ["hub_status", "find_tools", "load_tools", "unload_tools", "call_tool"];

/// A lazy connector before the server at this URL, which is called `clock`.
fn lazy(url: &str) -> Hub {
    Hub::before(url).key("discovery", json!("lazy"))
}

/// The JSON that a tool of plugway's own answers.
async fn ask(client: &Client, tool: &str, arguments: Value) -> Result<Value> {
    let text = client.call_text(tool, arguments).await?;
    serde_json::from_str(&text).with_context(|| text)
}

async fn load(client: &Client, items: &[&str]) -> Result<Value> {
    ask(client, "load_tools", json!({"items": items})).await
}

/// The sentence with which a call of a tool is refused.
async fn refusal(client: &Client, tool: &str, arguments: Value) -> Result<String> {
    let result = client.call_tool(tool, arguments).await?;
    ensure!(result["isError"] == true, "{result}");
    result["content"][0]["text"].as_str().map(str::to_owned).context("no text")
}

/// The names of the tools that are found.
fn names(found: &Value) -> Result<Vec<&str>> {
    let items = found["items"].as_array().context("no items")?;
    Ok(items.iter().filter_map(|item| item["name"].as_str()).collect())
}

/// What the client lists besides [`OWN`].
async fn others(client: &Client) -> Result<Vec<String>> {
    let mut listed = client.tool_names().await?;
    for own in OWN {
        let place = listed.iter().position(|name| name == own);
        listed.remove(place.with_context(|| format!("no {own}"))?);
    }
    Ok(listed)
}
