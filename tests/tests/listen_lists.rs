//! Changes of lists reach clients of the modern era on the stream that they opened for it.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, rpc::Events};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const ID: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
const CHANGED: &str = "notifications/tools/list_changed";

async fn next(events: &mut Events) -> Result<Value> {
    events.next(BOUND).await?.context("the stream ended")
}

/// Everything that still comes on a stream, which must end.
async fn rest(events: &mut Events) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    while let Some(message) = events.next(BOUND).await? {
        all.push(message);
    }
    Ok(all)
}

#[tokio::test]
async fn a_storm_is_told_a_few_times_and_the_stream_ends_with_a_result() -> Result<()> {
    let board = DemoHttp::board("127.0.0.1:0", "both").await?;
    let plugway = Hub::new("hub").upstream("board", board.url()).start().await?;
    let client = plugway.modern();
    let discovered = client.call("server/discover", json!({})).await?;
    let capabilities = discovered.result()?.get("capabilities").context("no capabilities")?.clone();
    for list in ["tools", "resources"] {
        ensure!(capabilities[list]["listChanged"] == true, "{capabilities}");
    }
    ensure!(capabilities["resources"]["subscribe"] == true, "{capabilities}");

    let wishes = json!({"toolsListChanged": true, "promptsListChanged": false});
    let params = json!({"notifications": wishes});
    let mut events = client.open("subscriptions/listen", params).await?;
    let first = next(&mut events).await?;
    ensure!(first["method"] == "notifications/subscriptions/acknowledged", "{first}");
    ensure!(first["params"]["notifications"] == json!({"toolsListChanged": true}), "{first}");
    let id = first.pointer(ID).context("no id")?.clone();
    ensure!(id.is_u64(), "an id keeps its type: {id}");

    for _ in 0..10 {
        client.call_text("board_grow", json!({})).await?;
    }
    let changed = next(&mut events).await?;
    ensure!(changed["method"] == CHANGED && changed.pointer(ID) == Some(&id), "{changed}");
    // A new note changes a list that nobody here listens for.
    client.call_text("board_pin", json!({"name": "new", "text": "x"})).await?;
    let (rest, ended) = tokio::join!(rest(&mut events), plugway.stop());
    ended?;
    let (last, between) = rest.as_ref().ok().and_then(|all| all.split_last()).context("nothing")?;
    ensure!(between.len() <= 2, "a storm is coalesced: {between:?}");
    ensure!(between.iter().all(|message| message["method"] == CHANGED), "{between:?}");
    ensure!(last["id"] == id && last["result"]["resultType"] == "complete", "{last}");
    let tag = last.pointer("/result/_meta/io.modelcontextprotocol~1subscriptionId");
    ensure!(tag == Some(&id), "{last}");
    Ok(())
}

#[tokio::test]
async fn only_who_sees_a_change_hears_of_it() -> Result<()> {
    let (secret, open) = (
        DemoHttp::board("127.0.0.1:0", "both").await?,
        DemoHttp::board("127.0.0.1:0", "both").await?,
    );
    let policy = Guest::new("visibility_by_scope").config(json!({"hide": ["secret_extra*"]}));
    let plugway = Hub::new("hub")
        .upstream("secret", secret.url())
        .upstream("open", open.url())
        .policy(policy)
        .start()
        .await?;
    let client = plugway.modern();
    let params = json!({"notifications": {"toolsListChanged": true}});
    let mut events = client.open("subscriptions/listen", params).await?;
    next(&mut events).await?;
    client.call_text("secret_grow", json!({})).await?;
    // What is told of the hidden change is told before the next one is.
    plugway.logged("the catalogue changed", BOUND).await?;
    client.call_text("open_grow", json!({})).await?;
    next(&mut events).await?;
    ensure!(client.tool_names().await?.contains(&"open_extra_1".to_owned()), "it came too early");
    let (rest, ended) = tokio::join!(rest(&mut events), plugway.stop());
    ended?;
    ensure!(rest?.len() == 1, "nothing but the result");
    Ok(())
}

#[tokio::test]
async fn what_is_no_wish_is_refused() -> Result<()> {
    let board = DemoHttp::board("127.0.0.1:0", "modern").await?;
    let plugway = Hub::before(board.url()).start().await?;
    for params in [json!({}), json!({"notifications": 1})] {
        let reply = plugway.modern().call("subscriptions/listen", params).await?;
        ensure!(reply.error_code()? == -32602, "{reply:?}");
    }
    let legacy = plugway.legacy().await?.call("subscriptions/listen", json!({})).await?;
    ensure!(legacy.error_code()? == -32601, "{legacy:?}");
    Ok(())
}
