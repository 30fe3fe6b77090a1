//! The policy `visibility`: what an operator lists is shown, clients narrow it, and nobody widens it.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

mod code;
mod grants;
mod operator;
mod requests;
mod told;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Hub,
    faulty::{Faulty, Raw, body, good},
    rpc::Client,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// Each list, its member, and the member of an entry that names it.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

/// A connector with this configuration of the policy, and without a status of its own.
#[expect(clippy::needless_pass_by_value, reason = "tables are written with values")]
fn hub(url: &str, config: Value) -> Hub {
    Hub::before(url)
        .key("status", json!(false))
        .key("policies", json!([{"use": "visibility", "config": config}]))
}

/// What one list names.
async fn listed(client: &Client, list: usize) -> Result<Vec<String>> {
    let (method, member, key) = LISTS[list];
    let reply = client.call(method, json!({})).await?;
    let items = reply.result()?[member].as_array().context("no list")?.clone();
    Ok(items.iter().filter_map(|item| item[key].as_str().map(str::to_owned)).collect())
}

/// What all lists name.
async fn all(client: &Client) -> Result<[Vec<String>; 4]> {
    Ok([
        listed(client, 0).await?,
        listed(client, 1).await?,
        listed(client, 2).await?,
        listed(client, 3).await?,
    ])
}

/// What is called is unknown.
async fn ensure_unknown(client: &Client, tool: &str) -> Result<()> {
    let reply = client.call("tools/call", json!({"name": tool, "arguments": {}})).await?;
    ensure!(reply.error_code()? == -32602, "{reply:?}");
    Ok(())
}

/// A server whose entries are tagged as those of FastMCP are.
async fn tagged() -> Result<Faulty> {
    Faulty::start(answer).await
}

fn answer(message: &Value, _: u64) -> Option<Raw> {
    let entry = |key: &str, name: &str, tags: &[&str]| json!({key: name, "name": name, "inputSchema": {"type": "object"}, "_meta": {"fastmcp": {"tags": tags}}});
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            "serverInfo": {"name": "tagged", "version": "0"},
        }),
        "tools/list" => json!({"tools": [
            entry("name", "read", &["safe", "files"]), entry("name", "wipe", &["admin", "files"]), {"name": "plain", "inputSchema": {"type": "object"}},
        ]}),
        "prompts/list" => {
            json!({"prompts": [entry("name", "explain", &["safe"]), entry("name", "other", &[])]})
        }
        "resources/list" => json!({"resources": [entry("uri", "file://a", &["files"])]}),
        "resources/templates/list" => json!({"resourceTemplates": []}),
        _ => return Some(good(message)),
    };
    Some(body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}
