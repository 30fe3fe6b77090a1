//! Calls that nobody wants any more, and requests that say of themselves what cannot be.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use plugway_tests::{
    Plugway, binary, http,
    rpc::{Client, Events},
};
use serde_json::{Value, json};

/// Much less than the 5 minutes that a call may take.
const BOUND: Duration = Duration::from_secs(20);

async fn rough() -> Result<Plugway> {
    let path = binary::find("rough-server")?.display().to_string();
    let upstreams = json!([{"name": "kid", "command": path}]);
    Plugway::start(json!({"name": "hub", "upstreams": upstreams}).to_string()).await
}

fn hang() -> Value {
    json!({"name": "kid_hang", "arguments": {}})
}

#[tokio::test]
async fn a_silent_child_is_a_stream_that_ends_when_the_client_gives_the_call_up() -> Result<()> {
    let plugway = rough().await?;
    let client = plugway.legacy().await?;
    // The head of the answer is there although nothing of the answer is.
    let (id, mut events) = client.open_as("tools/call", hang()).await?;
    client.notify("notifications/cancelled", json!({"requestId": id})).await?;
    ensure!(events.next(BOUND).await?.is_none(), "an answer to a call that was given up");
    Ok(())
}

#[tokio::test]
async fn calls_that_were_given_up_hold_no_place_in_their_session() -> Result<()> {
    let plugway = rough().await?;
    let client = plugway.legacy().await?;
    let given_up = async || -> Result<Events> {
        let (id, events) = client.open_as("tools/call", hang()).await?;
        client.notify("notifications/cancelled", json!({"requestId": id})).await?;
        Ok(events)
    };
    // More than a session may have in flight, some at a time; their streams stay open here.
    let mut streams = Vec::new();
    for _ in 0..9 {
        streams.extend(try_join_all((0..32).map(|_| given_up())).await?);
    }
    ensure!(client.call("ping", json!({})).await?.status == 200);
    Ok(())
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_calls() -> Result<()> {
    let plugway = rough().await?;
    let client = plugway.legacy().await?;
    let mut events = client.open("tools/call", hang()).await?;
    ensure!(client.delete().await? == 204);
    ensure!(events.next(BOUND).await?.is_none(), "an answer in a session that is over");
    Ok(())
}

#[tokio::test]
async fn every_request_names_a_revision_of_ours_if_it_names_one() -> Result<()> {
    let plugway = rough().await?;
    let client = plugway.legacy().await?;
    let mut request = client.get(None)?;
    request.headers_mut().insert("mcp-protocol-version", "bogus".parse()?);
    ensure!(http::send(plugway.address(), request).await?.status == 400);
    ensure!(client.call("ping", json!({})).await?.status == 200, "the session is gone");
    Ok(())
}

#[tokio::test]
async fn capabilities_of_a_modern_client_are_an_object() -> Result<()> {
    let plugway = rough().await?;
    for strange in [json!(5), json!(null), json!([])] {
        let client = Client::modern_with(plugway.address(), "/mcp", strange.clone());
        let reply = client.call("tools/list", json!({})).await?;
        ensure!(reply.status == 400 && reply.error_code()? == -32602, "{strange}: {}", reply.text);
    }
    Ok(())
}
