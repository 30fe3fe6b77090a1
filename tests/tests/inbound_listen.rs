//! Policies judge what servers tell a client of the modern era that listens, those of the moment.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Guest, Plugway,
    plugway::Setup,
    rpc::{Client, Events},
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const NOTE: &str = "board://notes/a";

/// A notice board behind a policy that puts this mark into what it tells.
fn configuration(guest: &Guest, board: &DemoHttp, mark: u8) -> String {
    let params = json!({"uri": NOTE, "mark": mark}).to_string();
    let rules = json!({"notifications/resources/updated": {"replace": params}});
    let entry = json!({"file": guest.file(), "limits": {"time_ms": 2_000}, "config": rules});
    let upstreams = json!([{"name": "board", "url": board.url()}]);
    let plugins = json!({"judge": entry});
    json!({"name": "hub", "plugins": plugins, "policies": ["judge"], "upstreams": upstreams})
        .to_string()
}

async fn listen(client: &Client) -> Result<Events> {
    let wishes = json!({"notifications": {"resourceSubscriptions": [NOTE]}});
    let mut events = client.open("subscriptions/listen", wishes).await?;
    let first = events.next(BOUND).await?.context("nothing is acknowledged")?;
    let honoured = &first["params"]["notifications"]["resourceSubscriptions"];
    ensure!(*honoured == json!([NOTE]), "{first}");
    Ok(events)
}

/// What the client hears when its note changes.
async fn told(client: &Client, events: &mut Events) -> Result<Value> {
    client.call_text("board_pin", json!({"name": "a", "text": "x"})).await?;
    let told = events.next(BOUND).await?.context("the stream ended")?;
    ensure!(told["method"] == "notifications/resources/updated", "{told}");
    let id = told.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
    ensure!(id.is_some_and(Value::is_u64), "{told}");
    Ok(told["params"]["mark"].clone())
}

#[tokio::test]
async fn a_stream_is_judged_by_the_policies_of_today() -> Result<()> {
    let board = DemoHttp::board("127.0.0.1:0", "modern").await?;
    let guest = Guest::new("inbound_by_method");
    let setup = Setup::new(configuration(&guest, &board, 1));
    let plugway: Plugway = setup.file(&guest.file(), guest.bytes()?).start().await?;
    let client = plugway.modern();
    let mut events = listen(&client).await?;
    ensure!(told(&client, &mut events).await? == 1);
    plugway.reconfigure(&configuration(&guest, &board, 2))?;
    plugway.logged("configuration applied", BOUND).await?;
    ensure!(told(&client, &mut events).await? == 2);
    Ok(())
}
