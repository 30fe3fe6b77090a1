//! What the code of servers can call: `GET /catalog` is read, kept fresh, searched, planned with, loaded from, and shown to
//! whoever stacks another connector on plugway.

mod bridges;
mod hostile;
mod leased;
mod reading;
mod shown;

use std::time::Duration;

use anyhow::{Context as _, Result};
use plugway_tests::{Coder, Hub, coder::function, rpc::Client};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// A server for chemistry: two steps of a workflow.
async fn chem() -> Result<Coder> {
    Coder::start("chem", &of_chem()).await
}

fn of_chem() -> Vec<Value> {
    vec![
        function("parse_molecule", "Parse a SMILES string", &[], &["chem.parsed"]),
        function(
            "compute_descriptors",
            "Compute descriptors",
            &["chem.parsed"],
            &["chem.described"],
        ),
    ]
}

/// A server for maps.
async fn gis() -> Result<Coder> {
    Coder::start("gis", &of_gis()).await
}

fn of_gis() -> Vec<Value> {
    vec![function("map_points", "Render points on a map", &["gis.loaded"], &["gis.rendered"])]
}

/// A connector whose router has tools of its own, before servers that are read often.
fn hub(upstreams: &[(&str, &Coder)]) -> Hub {
    let mut hub = Hub::new("hub").router_config(&json!({"unified_tools": true}));
    for (name, server) in upstreams {
        hub = hub.upstream_with(name, &server.url(), often());
    }
    hub
}

/// Keys of an upstream that is read again all the time, and tried again soon.
fn often() -> Value {
    json!({
        "refresh": "300ms", "health_check_interval": "200ms",
        "reconnect": {"initial": "100ms", "max": "200ms"},
    })
}

/// The JSON that a tool answers with.
async fn ask(client: &Client, tool: &str, arguments: Value) -> Result<Value> {
    let text = client.call_text(tool, arguments).await?;
    serde_json::from_str(&text).with_context(|| text.clone())
}

async fn search(client: &Client, query: &str) -> Result<Value> {
    ask(client, "search_hub_tools", json!({"query": query, "top": 20})).await
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|one| one["name"].as_str()).collect()
}
