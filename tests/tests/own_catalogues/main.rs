//! Servers that say what they offer to callers with credentials of their own only: each caller sees what it is offered, calls
//! it and hears of its changes, and nobody else does.

use std::time::Duration;

use anyhow::{Context as _, Result};
use plugway_tests::strict::Strict;
use plugway_tests::tokens::{auth, identified};
use plugway_tests::{Hub, Plugway, rpc::Client};
use serde_json::{Value, json};

mod changes;
mod many;
mod seen;

const BOUND: Duration = Duration::from_secs(20);
/// What the connector shows besides.
const STATUS: &str = "hub_status";
const PER_CALLER: &str = "what it offers is read for each caller";

/// The server as an upstream: it is looked at often, so that an outage is seen.
fn before(server: &Strict) -> Hub {
    let often = json!({
        "auth": "forward", "health_check_interval": "100ms", "health_check_timeout": "1s",
        "reconnect": {"initial": "100ms", "max": "200ms"}, "stale_for": "0s",
    });
    let admin = json!({"listen": "127.0.0.1:0", "token_file": "admin.token"});
    Hub::new("hub").upstream_with("up", &server.url(), often).top("admin", admin)
}

/// plugway with callers that it knows, and strangers.
async fn start(server: &Strict) -> Result<Plugway> {
    let hub = before(server).key("anonymous", json!(true)).top("auth", auth());
    identified(hub.setup()?, &json!({})).start().await
}

/// A client of each era.
async fn both(plugway: &Plugway, token: Option<&str>) -> Result<[Client; 2]> {
    let modern = plugway.modern().with_token(token);
    let legacy = match token {
        Some(token) => Client::legacy_as(plugway.address(), "/mcp", token).await?,
        None => plugway.legacy().await?,
    };
    Ok([legacy, modern])
}

/// What a client sees of the server.
async fn seen(client: &Client) -> Result<Vec<String>> {
    let names = client.tool_names().await?;
    Ok(names.into_iter().filter(|name| name != STATUS).collect())
}

/// The error of a call that is not possible.
async fn refusal(client: &Client, tool: &str) -> Result<String> {
    let reply = client.call("tools/call", json!({"name": tool, "arguments": {}})).await?;
    let message = reply.response()?.pointer("/error/message").and_then(Value::as_str);
    message.map(str::to_owned).with_context(|| reply.text.clone())
}
