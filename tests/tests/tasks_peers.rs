//! The reference server's tasks, as a child and over HTTP, behind one connector.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    peers::Peers,
    rpc::{Client, Events},
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(40);
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// The id of a task that is not sure what it is asked for.
async fn begun(client: &Client, server: &str) -> Result<String> {
    let params = json!({
        "name": format!("{server}_simulate-research-query"),
        "arguments": {"topic": server, "ambiguous": true},
        "task": {"ttl": 300_000},
    });
    let reply = client.call("tools/call", params).await?;
    let task = &reply.result()?["task"];
    ensure!(task["status"] == "working" && task["ttl"] == 300_000, "{reply:?}");
    task["taskId"].as_str().map(str::to_owned).context("no task")
}

async fn status(client: &Client, id: &str) -> Result<Value> {
    let reply = client.call("tasks/get", json!({"taskId": id})).await?;
    let task = reply.result()?;
    ensure!(task["taskId"] == id, "{reply:?}");
    Ok(task["status"].clone())
}

/// Fetches what comes of a task, and tells it what it wants to know on the way.
async fn clarified(client: &Client, server: &str, id: &str) -> Result<()> {
    let mut events = client.open("tasks/result", json!({"taskId": id})).await?;
    let asked = events.next(BOUND).await?.context("nothing is asked")?;
    ensure!(asked["method"] == "elicitation/create", "{asked}");
    ensure!(asked["params"]["_meta"][RELATED]["taskId"] == *id, "{asked}");
    let message = asked["params"]["message"].as_str().unwrap_or_default();
    ensure!(message.starts_with(&format!("[{server}] ")), "{asked}");
    let answer = json!({
        "action": "accept", "content": {"interpretation": "historical"},
        "_meta": {RELATED: {"taskId": id}},
    });
    ensure!(client.answer(&asked, answer).await? == 202);
    let done = loop {
        let message = events.next(BOUND).await?.context("no result")?;
        if message.get("result").is_some() {
            break message["result"].clone();
        }
    };
    let text = done["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(text.contains(&format!("{server} (historical)")), "{done}");
    ensure!(done["_meta"][RELATED]["taskId"] == *id, "{done}");
    Ok(())
}

/// Waits until the session's own stream told something of each task.
async fn told(stream: &mut Events, mut ids: BTreeSet<&str>) -> Result<()> {
    while !ids.is_empty() {
        let note = stream.next(BOUND).await?.context("the session's stream ended")?;
        if note["method"] == "notifications/tasks/status" {
            ids.remove(note["params"]["taskId"].as_str().context("no task")?);
        }
    }
    Ok(())
}

#[tokio::test]
async fn peer_tasks_of_two_reference_servers_are_made_asked_for_and_ended() -> Result<()> {
    let peers = Peers::find()?;
    let remote = peers.everything().await?;
    // A child that is not called is stopped soon, but for its tasks.
    let local = json!({
        "name": "local", "command": peers.node(), "args": [peers.everything_script(), "stdio"],
        "idle_stop": "1s",
    });
    let remote_upstream = json!({"name": "remote", "url": remote.url()});
    let configuration =
        json!({"name": "hub", "status": false, "upstreams": [local, remote_upstream]});
    let plugway = Plugway::start(configuration.to_string()).await?;
    let capabilities = json!({"elicitation": {}});
    let client = Client::legacy_with(plugway.address(), "/mcp", capabilities).await?;
    let initialized = client.initialized().context("no session")?;
    ensure!(initialized["capabilities"]["tasks"]["list"].is_object(), "{initialized}");

    let mut stream = client.listen().await?;
    let mut ids = Vec::new();
    for server in ["local", "remote"] {
        ids.push((server, begun(&client, server).await?));
    }
    let listed = client.call("tasks/list", json!({})).await?;
    ensure!(listed.result()?["tasks"][0]["taskId"] == *ids[0].1, "{listed:?}");
    let more = json!({"cursor": listed.result()?["nextCursor"]});
    let listed = client.call("tasks/list", more).await?;
    ensure!(listed.result()?["tasks"][0]["taskId"] == *ids[1].1, "{listed:?}");

    for (server, id) in &ids {
        wait::until("the task asks", BOUND, async || {
            Ok((status(&client, id).await? == "input_required").then_some(()))
        })
        .await?;
        clarified(&client, server, id).await?;
    }

    told(&mut stream, ids.iter().map(|(_, id)| id.as_str()).collect()).await?;

    let other = plugway.legacy().await?;
    for (server, id) in &ids {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            let refused = other.call(method, json!({"taskId": id})).await?;
            ensure!(refused.error_code()? == -32602, "{refused:?}");
            let own = id.split('.').nth(1).context("an id of another form")?;
            let guessed = client.call(method, json!({"taskId": own})).await?;
            ensure!(guessed.error_code()? == -32602, "{guessed:?}");
        }
        let another = begun(&client, server).await?;
        let ended = client.call("tasks/cancel", json!({"taskId": another})).await?;
        ensure!(ended.result()?["status"] == "cancelled", "{ended:?}");
        ensure!(ended.result()?["taskId"] == *another, "{ended:?}");
        ensure!(status(&client, &another).await? == "cancelled");
    }
    Ok(())
}
