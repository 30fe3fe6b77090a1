//! Clients of the legacy era subscribe to resources of servers of the modern era.

use std::time::Duration;

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Hub, Notices, Plugway, demo::board_upstream, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const A: &str = "board://notes/a";
const B: &str = "board://notes/b";

fn updates(notices: &Notices) -> Vec<Value> {
    let updated = |message: &Value| message["method"] == "notifications/resources/updated";
    notices.all().into_iter().filter(updated).collect()
}

async fn until(notices: &Notices, count: usize) -> Result<Vec<Value>> {
    wait::until(&format!("{count} updates"), BOUND, async || {
        let all = updates(notices);
        Ok((all.len() >= count).then_some(all))
    })
    .await
}

async fn change(client: &Client, what: &str, uri: &str) -> Result<()> {
    let reply = client.call(&format!("resources/{what}"), json!({"uri": uri})).await?;
    ensure!(*reply.result()? == json!({}), "{reply:?}");
    Ok(())
}

async fn pin(client: &Client, name: &str) -> Result<()> {
    client.call_text("board_pin", json!({"name": name, "text": "x"})).await.map(drop)
}

#[tokio::test]
async fn updates_are_those_of_the_clients_era_and_outlive_the_server() -> Result<()> {
    let board = DemoHttp::board("127.0.0.1:0", "modern").await?;
    let keys =
        json!({"health_check_interval": "100ms", "reconnect": {"initial": "50ms", "max": "100ms"}});
    let plugway = Hub::new("hub").upstream_with("board", board.url(), keys).start().await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    change(&client, "subscribe", A).await?;
    pin(&client, "b").await?;
    pin(&client, "a").await?;
    let update = |uri| json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}});
    ensure!(until(&notices, 1).await? == [update(A)]);
    change(&client, "subscribe", B).await?;
    change(&client, "unsubscribe", A).await?;
    // The change of the subscription may take effect a little after its answer.
    wait::until("an update of the other note alone", BOUND, async || {
        let before = updates(&notices).len();
        pin(&client, "a").await?;
        pin(&client, "b").await?;
        let all = until(&notices, before + 1).await?;
        Ok((all.get(before..) == Some(&[update(B)])).then_some(()))
    })
    .await?;

    let address = board.address().to_string();
    let before = updates(&notices).len();
    board.kill().await?;
    let _board = DemoHttp::board(&address, "modern").await?;
    wait::until("the server that came back tells", BOUND, async || {
        // It may not be there yet.
        drop(pin(&client, "b").await);
        Ok((updates(&notices).len() > before).then_some(()))
    })
    .await
}

#[tokio::test]
async fn servers_over_pipes_tell_too_be_they_shared_or_not() -> Result<()> {
    for sharing in ["session", "connector"] {
        let mut upstream = board_upstream("board", "modern", true)?;
        upstream["sharing"] = json!(sharing);
        let hub = json!({"connectors": [{"name": "hub", "path": "/", "upstreams": [upstream]}]});
        let plugway = Plugway::start(hub.to_string()).await?;
        let client = plugway.legacy().await?;
        let notices = Notices::of(&client).await?;
        change(&client, "subscribe", A).await?;
        let all = until(&notices, 3).await?;
        ensure!(all.iter().all(|message| message["params"] == json!({"uri": A})), "{all:?}");
    }
    Ok(())
}

#[tokio::test]
async fn who_shares_a_session_of_a_legacy_server_cannot_subscribe_there() -> Result<()> {
    let mut upstream = board_upstream("board", "legacy", false)?;
    upstream["sharing"] = json!("connector");
    let hub = json!({"connectors": [{"name": "hub", "path": "/", "upstreams": [upstream]}]});
    let plugway = Plugway::start(hub.to_string()).await?;
    let reply = plugway.legacy().await?.call("resources/subscribe", json!({"uri": A})).await?;
    ensure!(reply.text.contains("sharing: connector"), "{reply:?}");
    Ok(())
}
