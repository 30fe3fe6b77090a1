//! When servers end what a client of the modern era hears of them.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Hub, Plugway,
    faulty::{self, Faulty, Raw},
    rpc::Events,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const TAG: &str = "io.modelcontextprotocol/subscriptionId";
const A: &str = "brief://a";
const B: &str = "brief://b";
const BOARD: &str = "board://notes/a";

/// A modern server with this resource that tells of one change of it and ends the stream with a result.
fn brief(message: &Value, uri: &str) -> Option<Raw> {
    let id = message.get("id")?;
    let result = match message.get("method")?.as_str()? {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {"resources": {"subscribe": true}},
        }),
        "resources/list" => json!({"resources": [{"uri": uri, "name": uri}]}),
        "subscriptions/listen" => {
            let tag = json!({TAG: id});
            let wishes = message["params"]["notifications"].clone();
            let note = |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params});
            let messages = [
                note("subscriptions/acknowledged", json!({"_meta": tag, "notifications": wishes})),
                note("resources/updated", json!({"_meta": tag, "uri": uri})),
                json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": tag}}),
            ];
            let events = messages.iter().map(|message| format!("data: {message}\n\n"));
            return Some((200, "text/event-stream", None, events.collect()));
        }
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return Some(faulty::body(&json!({"jsonrpc": "2.0", "id": id, "error": error})));
        }
    };
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": id, "result": result})))
}

async fn listen(plugway: &Plugway, wishes: Value) -> Result<Events> {
    let client = plugway.modern();
    let wishes = json!({"notifications": wishes});
    let mut events = client.open("subscriptions/listen", wishes.clone()).await?;
    let first = next(&mut events).await?;
    ensure!(first["params"]["notifications"] == wishes["notifications"], "{first}");
    Ok(events)
}

async fn next(events: &mut Events) -> Result<Value> {
    events.next(BOUND).await?.context("the stream ended")
}

fn is_update(message: &Value, uri: &str) -> bool {
    message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
}

/// The result with which a stream ends, after an update of each of these.
async fn ends_after(mut events: Events, uris: &[&str]) -> Result<()> {
    let mut left = uris.to_vec();
    loop {
        let message = next(&mut events).await?;
        if let Some(result) = message.get("result") {
            ensure!(left.is_empty(), "nothing was told of {left:?}");
            ensure!(result["resultType"] == "complete", "{message}");
            ensure!(result["_meta"][TAG] == message["id"], "{message}");
            ensure!(events.next(BOUND).await?.is_none(), "it goes on");
            return Ok(());
        }
        let place = left.iter().position(|uri| is_update(&message, uri));
        left.swap_remove(place.with_context(|| message.to_string())?);
    }
}

#[tokio::test]
async fn the_end_of_all_servers_is_a_result() -> Result<()> {
    let one = Faulty::start(|message, _| brief(message, A)).await?;
    let two = Faulty::start(|message, _| brief(message, B)).await?;
    let plugway = Hub::new("hub").upstream("a", &one.url()).upstream("b", &two.url());
    let plugway = plugway.start().await?;
    let events = listen(&plugway, json!({"resourceSubscriptions": [A]})).await?;
    ends_after(events, &[A]).await?;
    let events = listen(&plugway, json!({"resourceSubscriptions": [A, B]})).await?;
    ends_after(events, &[A, B]).await
}

#[tokio::test]
async fn a_server_that_ended_is_asked_again_while_something_else_is_left() -> Result<()> {
    let brief = Faulty::start(|message, _| brief(message, A)).await?;
    let board = DemoHttp::board("127.0.0.1:0", "modern").await?;
    let plugway = Hub::new("hub").upstream("a", &brief.url()).upstream("board", board.url());
    let plugway = plugway.start().await?;
    for wishes in [
        json!({"toolsListChanged": true, "resourceSubscriptions": [A]}),
        json!({"resourceSubscriptions": [A, BOARD]}),
    ] {
        let mut events = listen(&plugway, wishes).await?;
        for _ in 0..2 {
            let told = next(&mut events).await?;
            ensure!(is_update(&told, A), "{told}");
        }
    }
    Ok(())
}
