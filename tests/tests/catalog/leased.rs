//! Bridges to servers that register themselves: who comes, and who goes, is served all the same.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Plugway,
    registry::{LAB, Registry, hub, setup},
    rpc::Client,
    tokens::ANN,
    wait,
};
use serde_json::{Value, json};

use super::{BOUND, ask, chem, gis, often};

const SENTENCE: &str = "Invalid bridge edge in 'hub' config: from_state 'chem.described' not found";

/// A connector with a way from chemistry to maps.
async fn bridged(upstreams: &Value, registry: &Value) -> Result<Plugway> {
    let bridges = json!([{"from_state": "chem.described", "to_state": "gis.loaded", "description": "Pass on"}]);
    let config = json!({"unified_tools": true, "bridges": bridges});
    let more = json!({"router": {"use": "router", "config": config}, "registry": registry});
    setup(&hub(upstreams, &more)).start().await
}

async fn is_degraded(plugway: &Plugway) -> Result<bool> {
    let ready = plugway.get("/ready").await?;
    ensure!(ready.status == 200, "calls are served all the same");
    let degraded = ready.json()?.get("degraded").context("no `degraded`")?.to_string();
    ensure!(degraded == "[]" || degraded.contains(SENTENCE), "{degraded}");
    Ok(degraded != "[]")
}

async fn until_bridge(plugway: &Plugway, client: &Client) -> Result<()> {
    wait::until("the bridge is there", BOUND, async || {
        let overview = ask(client, "plan_hub_workflow", json!({})).await?;
        let to = overview.pointer("/bridges/0/to").and_then(Value::as_str);
        Ok((to == Some("gis.loaded")).then_some(()))
    })
    .await?;
    ensure!(!is_degraded(plugway).await?);
    Ok(())
}

async fn until_tools(client: &Client, prefix: &str, there: bool) -> Result<()> {
    wait::until(&format!("tools of {prefix}: {there}"), BOUND, async || {
        let names = client.tool_names().await?;
        Ok((names.iter().any(|name| name.starts_with(prefix)) == there).then_some(()))
    })
    .await
}

fn of_file(name: &str, url: &str) -> Value {
    let mut upstream = often();
    if let Some(keys) = upstream.as_object_mut() {
        keys.extend([("name".to_owned(), json!(name)), ("url".to_owned(), json!(url))]);
    }
    upstream
}

#[tokio::test]
async fn a_bridge_that_does_not_hold_any_more_keeps_nobody_from_leaving_or_coming() -> Result<()> {
    let (chem, gis, clock) = (chem().await?, gis().await?, DemoHttp::start(&[]).await?);
    let registry = json!({"names": ["w*"], "hosts": ["127.0.0.1"]});
    let plugway = bridged(&json!([of_file("gis", &gis.url())]), &registry).await?;
    ensure!(is_degraded(&plugway).await?, "nobody is there yet who makes it hold");
    let (client, lab) =
        (Client::modern_as(plugway.address(), "/mcp", ANN), Registry::of(&plugway, LAB));
    lab.registered("w1", &chem.url()).await?;
    until_bridge(&plugway, &client).await?;
    lab.remove("w1").await?;
    until_tools(&client, "w1", false).await?;
    ensure!(is_degraded(&plugway).await?);
    lab.registered("w2", clock.url()).await?;
    until_tools(&client, "w2_", true).await?;
    lab.registered("w1", &chem.url()).await?;
    until_bridge(&plugway, &client).await
}

#[tokio::test]
async fn an_entry_that_waits_for_its_lease_is_not_taken_for_known() -> Result<()> {
    let (chem, gis) = (chem().await?, gis().await?);
    let entry = json!({"name": "chem", "accept_leases": ["lab"]});
    let upstreams = json!([entry, of_file("gis", &gis.url())]);
    // Nobody else may register: once all are there, what does not hold never will.
    let plugway = bridged(&upstreams, &json!({"hosts": ["127.0.0.1"]})).await?;
    ensure!(!is_degraded(&plugway).await?, "it may still hold");
    let client = Client::modern_as(plugway.address(), "/mcp", ANN);
    let overview = ask(&client, "plan_hub_workflow", json!({})).await?;
    ensure!(overview.get("bridges").is_none(), "{overview}");
    Registry::of(&plugway, LAB).registered("chem", &chem.url()).await?;
    until_bridge(&plugway, &client).await
}
