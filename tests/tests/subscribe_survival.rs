//! Subscriptions and levels of a session outlive the server's process and the client's token.

use anyhow::{Result, ensure};
use plugway_tests::tokens::{ANN, ANN_TOO, auth, identified};
use plugway_tests::{DemoHttp, Hub, rpc::Client};
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
