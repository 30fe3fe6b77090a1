//! Log levels: servers are told what a client wants, and what is below it does not reach the client.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Notices, Plugway, demo::board_upstream, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// Two boards: `pipe` over stdio, `web` over HTTP.
async fn plugway(era: &str) -> Result<(DemoHttp, Plugway)> {
    let web = DemoHttp::board("127.0.0.1:0", era).await?;
    let upstreams = [board_upstream("pipe", era, false)?, json!({"name": "web", "url": web.url()})];
    let hub = json!({"connectors": [{"name": "hub", "path": "/", "upstreams": upstreams}]});
    let plugway = Plugway::start(hub.to_string()).await?;
    Ok((web, plugway))
}

async fn levels(client: &Client, server: &str) -> Result<Value> {
    let told = client.call_text(&format!("{server}_told"), json!({})).await?;
    Ok(serde_json::from_str::<Value>(&told)?["levels"].clone())
}

/// The levels of the log messages among these that come from a board.
fn spoken(messages: &[Value]) -> Vec<String> {
    let own = messages.iter().filter(|message| message["params"]["logger"] == "board/speech");
    own.filter_map(|message| Some(message["params"]["level"].as_str()?.to_owned())).collect()
}

#[tokio::test]
async fn servers_are_told_at_once_or_when_they_are_opened() -> Result<()> {
    let (_web, plugway) = plugway("legacy").await?;
    let client = plugway.legacy().await?;
    ensure!(levels(&client, "pipe").await? == json!([]), "it is open, and was told nothing");
    let set = async |level: &str| client.call("logging/setLevel", json!({"level": level})).await;
    set("error").await?.result()?;
    ensure!(levels(&client, "pipe").await? == json!(["error"]));
    ensure!(levels(&client, "web").await? == json!(["error"]), "it is opened by this");
    set("error").await?.result()?;
    set("info").await?.result()?;
    for server in ["pipe", "web"] {
        ensure!(levels(&client, server).await? == json!(["error", "info"]), "{server}");
    }
    ensure!(set("loud").await?.error_code()? == -32602);
    let other = plugway.legacy().await?;
    ensure!(levels(&other, "web").await? == json!([]), "a level is its session's own");
    Ok(())
}

#[tokio::test]
async fn what_is_below_the_level_does_not_pass() -> Result<()> {
    let (_web, plugway) = plugway("legacy").await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    client.call("logging/setLevel", json!({"level": "critical"})).await?.result()?;
    let params = json!({"name": "pipe_speak", "arguments": {}});
    let reply = client.call("tools/call", params).await?;
    wait::until("the gravest message came", BOUND, async || {
        let all = [spoken(&reply.messages), spoken(&notices.all())].concat();
        Ok(all.contains(&"emergency".to_owned()).then_some(()))
    })
    .await?;
    let all = [spoken(&reply.messages), spoken(&notices.all())].concat();
    ensure!(all == ["critical", "alert", "emergency"], "{all:?}");
    Ok(())
}

#[tokio::test]
async fn a_modern_server_hears_the_level_of_a_session_with_each_request() -> Result<()> {
    let (_web, plugway) = plugway("modern").await?;
    let client = plugway.legacy().await?;
    client.call("logging/setLevel", json!({"level": "alert"})).await?.result()?;
    for server in ["web", "pipe"] {
        let params = json!({"name": format!("{server}_speak"), "arguments": {}});
        let reply = client.call("tools/call", params).await?;
        let text = reply.result()?.pointer("/content/0/text").and_then(Value::as_str);
        ensure!(text.context("no text")? == "spoken");
        let all = spoken(&reply.messages);
        ensure!(all == ["alert", "emergency"], "{server}: {all:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_modern_request_gets_what_it_asks_for_and_else_nothing() -> Result<()> {
    for era in ["modern", "legacy"] {
        let (_web, plugway) = plugway(era).await?;
        let client = plugway.modern();
        for server in ["web", "pipe"] {
            let call = json!({"name": format!("{server}_speak"), "arguments": {}});
            let silent = client.call("tools/call", call.clone()).await?;
            ensure!(spoken(&silent.messages).is_empty(), "{era} {server}: {silent:?}");
            let mut asking = call;
            asking["_meta"] = json!({"io.modelcontextprotocol/logLevel": "alert"});
            let reply = client.call("tools/call", asking).await?;
            let all = spoken(&reply.messages);
            // What a server with sessions says over HTTP on the session's own stream is for no request.
            let heard =
                if (era, server) == ("legacy", "web") { &[][..] } else { &["alert", "emergency"] };
            ensure!(all == heard, "{era} {server}: {all:?}");
        }
    }
    Ok(())
}

/// VS Code does so: it sets the level and opens the stream before it says that it is initialised.
#[tokio::test]
async fn a_client_may_set_its_level_and_listen_before_it_says_that_it_is_ready() -> Result<()> {
    let (_web, plugway) = plugway("legacy").await?;
    let client = Client::introduced(plugway.address(), "/mcp").await?;
    client.call("logging/setLevel", json!({"level": "critical"})).await?.result()?;
    let notices = Notices::of(&client).await?;
    ensure!(client.notify("notifications/initialized", json!({})).await? == 202);
    for server in ["pipe", "web"] {
        client.call_text(&format!("{server}_grow"), json!({})).await?;
        ensure!(levels(&client, server).await? == json!(["critical"]), "{server}");
    }
    notices.until_changed("tools", 1, BOUND).await
}
