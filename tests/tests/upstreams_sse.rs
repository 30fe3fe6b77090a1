//! Servers of the first revision: HTTP+SSE toward upstreams.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Plugway, demo_notes_path, metrics, peers::Peers};
use serde_json::{Value, json};

const BOUND: std::time::Duration = std::time::Duration::from_secs(20);

fn text(result: &Value) -> &str {
    result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default()
}

/// plugway behind plugway: the inner one serves HTTP+SSE.
async fn nested(demo: &DemoHttp) -> Result<(Plugway, Plugway)> {
    let inner = Plugway::start(format!(
        "name: inner\nupstreams:\n- {{name: clock, prefix: never, url: '{}'}}\n- {{name: notes, prefix: never, command: '{}'}}\n",
        demo.url(),
        demo_notes_path()?.display()
    ))
    .await?;
    let outer = Plugway::start(format!(
        "name: outer\nupstreams: [{{name: old, url: '{}', transport: sse}}]\n",
        inner.base_url()
    ))
    .await?;
    Ok((inner, outer))
}

#[tokio::test]
async fn each_client_has_a_channel_of_its_own_in_both_eras() -> Result<()> {
    let demo = DemoHttp::start(&[]).await?;
    let (inner, outer) = nested(&demo).await?;
    let (one, other) = (outer.legacy().await?, outer.legacy().await?);
    let modern = outer.modern();
    for client in [&one, &other, &modern] {
        let sum = client.call_tool("old_add", json!({"a": 2, "b": 40})).await?;
        ensure!(text(&sum) == "42", "{sum}");
    }
    one.call_tool("old_add_note", json!({"text": "mine"})).await?;
    ensure!(text(&one.call_tool("old_list_notes", json!({})).await?) == "mine");
    for client in [&other, &modern] {
        let notes = client.call_tool("old_list_notes", json!({})).await?;
        ensure!(!text(&notes).contains("mine"), "{notes}");
    }
    let sessions = || metrics::sum(&inner, "plugway_sessions", &[("era", "legacy")]);
    let before = sessions().await?;
    ensure!(one.delete().await? == 204);
    plugway_tests::wait::until("the channel ends with the session", BOUND, async || {
        Ok((sessions().await? < before).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_server_that_comes_back_is_found_again() -> Result<()> {
    let demo = DemoHttp::start(&[]).await?;
    let (inner, outer) = nested(&demo).await?;
    let client = outer.legacy().await?;
    client.call_tool("old_add", json!({"a": 1, "b": 1})).await?;
    let (address, configuration) = (
        inner.address(),
        format!(
            "name: inner\nlisten: '{}'\nupstreams: [{{name: clock, prefix: never, url: '{}'}}]\n",
            inner.address(),
            demo.url()
        ),
    );
    inner.kill().await?;
    let inner = plugway_tests::plugway::Setup::new(configuration).chooses_address().start().await?;
    ensure!(inner.address() == address);
    plugway_tests::wait::until("a call goes through again", BOUND, async || {
        let sum = client.call_tool("old_add", json!({"a": 2, "b": 40})).await?;
        Ok((text(&sum) == "42").then_some(()))
    })
    .await
}

#[tokio::test]
async fn peer_everything_over_sse_lists_calls_reports_progress_and_reads() -> Result<()> {
    let peers = Peers::find()?;
    let everything = peers.everything_sse().await?;
    let url = everything.url().replace("/mcp", "/sse");
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: every, url: '{url}', transport: sse}}]\n"
    ))
    .await?;
    let client = plugway.legacy().await?;
    let names = client.tool_names().await?;
    ensure!(names.iter().any(|name| name == "every_echo"), "{names:?}");
    let sum = client.call_tool("every_get-sum", json!({"a": 2, "b": 3})).await?;
    ensure!(text(&sum).contains('5'), "{sum}");
    let params = json!({
        "name": "every_trigger-long-running-operation",
        "arguments": {"duration": 1, "steps": 2}, "_meta": {"progressToken": "mine"},
    });
    let reply = client.call("tools/call", params).await?;
    let progress = reply.messages.first().context("no messages")?;
    ensure!(progress.pointer("/params/progressToken") == Some(&json!("mine")), "{progress}");
    let listed = client.call("resources/list", json!({})).await?;
    let uri = listed.result()?.pointer("/resources/0/uri").cloned().context("no resources")?;
    ensure!(
        client.call("resources/read", json!({"uri": uri})).await?.result()?["contents"].is_array()
    );
    Ok(())
}
