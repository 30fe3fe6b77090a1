//! Clients of the first revision: HTTP+SSE, one stream for everything and one address to post to.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Hub, Plugway, Scripted,
    asking::{accepted, elicitation, outcome, over_http},
    demo_notes_path, http, metrics,
    peers::Peers,
    rpc, wait,
};
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

/// Everything that servers say by themselves comes on the one stream that there is.
#[tokio::test]
async fn what_servers_ask_and_tell_comes_on_the_channel() -> Result<()> {
    let (web, board) = (over_http().await?, DemoHttp::board("127.0.0.1:0", "both").await?);
    let scripted = Scripted::start().await?;
    let plugway = Hub::new("hub")
        .upstream("web", web.url())
        .upstream("board", board.url())
        .upstream("steps", &scripted.url())
        .start()
        .await?;
    let mut channel = rpc::Channel::open(plugway.address(), "/sse", None).await?;
    channel.initialize_with(json!({"elicitation": {}})).await?;
    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});

    channel.ask(1, "tools/call", call("web_ask", elicitation("Which word?"))).await?;
    let asked = channel.next_of("elicitation/create").await?;
    ensure!(asked["params"]["message"] == "[web] Which word?", "{asked}");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted("this")});
    ensure!(channel.post(&answer.to_string()).await? == 202);
    let done = channel.next().await?.context("the stream ended")?;
    ensure!(done["id"] == 1, "{done}");
    let got = outcome(&done["result"])?;
    ensure!(got["result"]["content"]["word"] == "this", "{got}");

    let mut params = call("steps_steps", json!({"steps": 2}));
    params["_meta"] = json!({"progressToken": "mine"});
    channel.ask(2, "tools/call", params).await?;
    for step in 1..=2 {
        let told = channel.next_of("notifications/progress").await?;
        ensure!(told["params"]["progressToken"] == "mine", "{told}");
        ensure!(told["params"]["progress"] == step, "{told}");
    }
    channel.notify("notifications/cancelled", json!({"requestId": 2})).await?;
    let told = async || Ok((scripted.cancelled() == [json!(2)]).then_some(()));
    wait::until("the server is told", BOUND, told).await?;
    // A call that was given up has no answer.
    scripted.release();
    ensure!(channel.call(3, "ping", json!({})).await?["result"] == json!({}));

    channel.ask(4, "tools/call", call("board_grow", json!({}))).await?;
    channel.next_of("notifications/tools/list_changed").await?;
    let tools = channel.call(5, "tools/list", json!({})).await?;
    ensure!(tools.to_string().contains("board_extra_1"), "{tools}");
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
