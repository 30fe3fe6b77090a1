//! Subscriptions and levels of a session outlive the server's process and the client's token.

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use plugway_tests::tokens::{ANN, ANN_TOO, auth, identified};
use plugway_tests::{DemoHttp, Hub, Scripted, rpc::Client};
use serde_json::{Value, json};

const A: &str = "board://notes/a";

/// What the server says that this session told it.
async fn told(client: &Client) -> Result<Value> {
    Ok(serde_json::from_str(&client.call_text("board_told", json!({})).await?)?)
}

async fn settle(client: &Client) -> Result<()> {
    client.call("logging/setLevel", json!({"level": "warning"})).await?.result()?;
    for name in ["a", "b"] {
        let params = json!({"uri": format!("board://notes/{name}")});
        client.call("resources/subscribe", params).await?.result()?;
    }
    let params = json!({"uri": "board://notes/b"});
    client.call("resources/unsubscribe", params).await?.result().map(drop)
}

#[tokio::test]
async fn a_server_that_was_killed_is_told_again() -> Result<()> {
    let board = DemoHttp::board("127.0.0.1:0", "legacy").await?;
    let keys =
        json!({"health_check_interval": "100ms", "reconnect": {"initial": "50ms", "max": "100ms"}});
    let plugway = Hub::new("hub").upstream_with("board", board.url(), keys).start().await?;
    let client = plugway.legacy().await?;
    settle(&client).await?;
    let wanted = json!({"levels": ["warning"], "subscribed": [A]});
    ensure!(told(&client).await? == wanted);

    let address = board.address().to_string();
    board.kill().await?;
    let _board = DemoHttp::board(&address, "legacy").await?;
    plugway.wait_until_connected(&["board"]).await?;
    ensure!(told(&client).await? == wanted, "the next call finds both");
    let other = plugway.legacy().await?;
    ensure!(told(&other).await? == json!({"levels": [], "subscribed": []}));
    Ok(())
}

#[tokio::test]
async fn another_token_of_the_same_caller_keeps_what_the_session_has_at_its_server() -> Result<()> {
    let board = DemoHttp::board("127.0.0.1:0", "legacy").await?;
    let hub = Hub::new("hub").upstream("board", board.url()).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    settle(&client).await?;
    let client = client.with_token(Some(ANN_TOO));
    ensure!(told(&client).await? == json!({"levels": ["warning"], "subscribed": [A]}));
    Ok(())
}

/// A server keeps sessions for a while; then it answers 404 and lives on.
#[tokio::test]
async fn a_session_that_a_living_server_forgot_is_opened_again_once_and_told_again() -> Result<()> {
    let server = Scripted::with_memory().await?;
    let plugway = Hub::new("hub").upstream("s", &server.url()).start().await?;
    let client = plugway.legacy().await?;
    client.call("logging/setLevel", json!({"level": "warning"})).await?.result()?;
    let params = json!({"uri": "scripted://a"});
    client.call("resources/subscribe", params).await?.result()?;
    ensure!(client.call_text("s_json", json!({})).await? == "json");
    let before = server.told();
    let own = &before.first().context("nobody was told anything")?.0;
    ensure!(before.iter().all(|(session, ..)| session == own), "{before:?}");

    server.forget_sessions();
    let calls = server.calls();
    // Every one of these is answered, and none is sent twice.
    let together = (0..6).map(|_| client.call_text("s_json", json!({})));
    for text in try_join_all(together).await? {
        ensure!(text == "json", "{text}");
    }
    ensure!(server.calls() == calls + 6, "{} calls", server.calls() - calls);
    let mut told = server.told().split_off(before.len());
    let new = told.first().context("the new session was told nothing")?.0.clone();
    ensure!(new != *own);
    told.sort();
    let wanted = [("logging/setLevel", "warning"), ("resources/subscribe", "scripted://a")];
    let wanted = wanted.map(|(method, what)| (new.clone(), method.to_owned(), what.to_owned()));
    ensure!(told == wanted, "one session, told once: {told:?}");
    Ok(())
}
