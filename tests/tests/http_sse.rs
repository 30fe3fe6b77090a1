//! Clients of the first revision: HTTP+SSE, one stream for everything and one address to post to.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Plugway, demo_notes_path, http, metrics, peers::Peers, rpc, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

fn hub(demo: &DemoHttp) -> Result<String> {
    Ok(format!(
        "name: hub\nupstreams:\n- {{name: clock, url: '{}'}}\n- {{name: notes, command: '{}'}}\n",
        demo.url(),
        demo_notes_path()?.display()
    ))
}

fn text(answer: &Value) -> &str {
    answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default()
}

#[tokio::test]
async fn a_client_of_the_first_revision_calls_and_is_answered_on_its_stream() -> Result<()> {
    let demo = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(hub(&demo)?).await?;
    let mut one = rpc::Channel::open(plugway.address(), "/sse", None).await?;
    let mut other = rpc::Channel::open(plugway.address(), "/sse", None).await?;
    ensure!(one.messages.starts_with("/messages?sessionId=") && one.messages != other.messages);
    let hello = one.initialize().await?;
    ensure!(hello["result"]["protocolVersion"] == "2024-11-05", "{hello}");
    other.initialize().await?;

    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let sum = one.call(1, "tools/call", call("clock_add", json!({"a": 2, "b": 40}))).await?;
    ensure!(text(&sum) == "42", "{sum}");
    // Each channel is a session of its own at a server with state.
    one.call(2, "tools/call", call("notes_add_note", json!({"text": "mine"}))).await?;
    let notes = one.call(3, "tools/call", call("notes_list_notes", json!({}))).await?;
    ensure!(text(&notes) == "mine", "{notes}");
    let notes = other.call(3, "tools/call", call("notes_list_notes", json!({}))).await?;
    ensure!(!text(&notes).contains("mine"), "{notes}");

    ensure!(one.post("{").await? == 202, "what is wrong with it is told on the stream");
    let refused = one.next().await?.context("the stream ended")?;
    ensure!(refused["error"]["code"] == -32700, "{refused}");
    Ok(())
}

#[tokio::test]
async fn whoever_leaves_the_stream_leaves_nothing_behind() -> Result<()> {
    let demo = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(hub(&demo)?).await?;
    let mut channel = rpc::Channel::open(plugway.address(), "/sse", None).await?;
    channel.initialize().await?;
    let call = json!({"name": "notes_add_note", "arguments": {"text": "x"}});
    channel.call(1, "tools/call", call).await?;
    let sessions = || metrics::sum(&plugway, "plugway_sessions", &[("era", "legacy")]);
    ensure!(sessions().await? >= 1.0);
    let messages = channel.messages.clone();
    drop(channel);
    let ended = async || Ok((sessions().await? < 0.5).then_some(()));
    wait::until("the end of the session", BOUND, ended).await?;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let late = http::post(plugway.address(), &messages, &[], list).await?;
    ensure!(late.status == 404, "{}", late.text());
    Ok(())
}

#[tokio::test]
async fn what_is_no_channel_is_refused_in_one_sentence() -> Result<()> {
    let demo = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(hub(&demo)?).await?;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for path in ["/messages", "/messages?sessionId=v1.00000000000000000000000000000000"] {
        let answer = http::post(plugway.address(), path, &[], list).await?;
        ensure!(answer.status == 404, "{path}: {}", answer.text());
    }
    ensure!(http::post(plugway.address(), "/sse", &[], list).await?.status == 405);
    ensure!(plugway.get("/messages").await?.status == 405);
    ensure!(plugway.get("/other/sse").await?.status == 404);
    Ok(())
}

#[tokio::test]
async fn peer_python_client_of_http_sse_calls_and_reads() -> Result<()> {
    let peers = Peers::find()?;
    let demo = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(hub(&demo)?).await?;
    let url = format!("{}/sse", plugway.base_url());
    let answer = peers.mcp_sse(&url, &[r#"clock_add={"a":2,"b":3}"#, "notes_list_notes"]).await?;
    let first = answer.pointer("/results/0/content/0/text");
    ensure!(first == Some(&json!("5")), "{answer}");
    ensure!(answer["tools"].as_array().is_some_and(|tools| tools.len() > 3), "{answer}");
    Ok(())
}
