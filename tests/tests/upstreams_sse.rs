//! Servers of the first revision: HTTP+SSE toward upstreams.

use anyhow::{Context as _, Result, ensure};
use futures_util::FutureExt as _;
use plugway_tests::{
    DemoHttp, Hub, Plugway, Scripted,
    asking::{accepted, elicitation, outcome, over_http},
    demo_notes_path, metrics,
    peers::Peers,
    plugway::Setup,
    rpc::Client,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};

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
    let inner = Setup::new(configuration).chooses_address().start().await?;
    ensure!(inner.address() == address);
    plugway_tests::wait::until("a call goes through again", BOUND, async || {
        let sum = client.call_tool("old_add", json!({"a": 2, "b": 40})).await?;
        Ok((text(&sum) == "42").then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_question_and_a_cancellation_find_their_way_over_channels() -> Result<()> {
    let (web, scripted) = (over_http().await?, Scripted::start().await?);
    let inner = Hub::new("inner")
        .upstream_with("web", web.url(), json!({"prefix": "never"}))
        .upstream_with("steps", &scripted.url(), json!({"prefix": "never"}))
        .start()
        .await?;
    let outer = Hub::new("outer")
        .upstream_with("old", &inner.base_url(), json!({"transport": "sse"}))
        .start()
        .await?;
    let capabilities = json!({"elicitation": {}});
    let client = Client::legacy_with(outer.address(), "/mcp", capabilities).await?;
    let params = json!({"name": "old_ask", "arguments": elicitation("Which word?")});
    let mut call = client.open("tools/call", params).await?;
    let asked = call.next(BOUND).await?.context("no question")?;
    ensure!(asked["params"]["message"] == "[old] [web] Which word?", "{asked}");
    ensure!(client.answer(&asked, accepted("this")).await? == 202);
    let last = call.next(BOUND).await?.context("no result")?;
    let got = outcome(&last["result"])?;
    ensure!(got["result"]["content"]["word"] == "this", "{got}");

    let params = json!({
        "name": "old_steps", "arguments": {"steps": 1}, "_meta": {"progressToken": "mine"},
    });
    let (id, mut call) = client.open_as("tools/call", params).await?;
    let told = call.next(BOUND).await?.context("no progress")?;
    ensure!(told["params"]["progressToken"] == "mine", "{told}");
    client.notify("notifications/cancelled", json!({"requestId": id})).await?;
    let cancelled = async || Ok((scripted.cancelled().len() == 1).then_some(()));
    plugway_tests::wait::until("the server is told", BOUND, cancelled).await?;
    // The channel goes on, and what the server answers late is for nobody.
    scripted.release();
    ensure!(text(&client.call_tool("old_json", json!({})).await?) == "json");
    ensure!(client.delete().await? == 204);
    let rest = call.next(BOUND).await?;
    ensure!(rest.is_none_or(|last| last.get("result").is_none()), "it was answered");
    Ok(())
}

/// A server that names an address of another origin could send everywhere what is meant for it.
#[tokio::test]
async fn nothing_is_posted_to_another_origin_than_the_servers() -> Result<()> {
    let (server, other) =
        (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
    let (url, elsewhere) = (server.local_addr()?, other.local_addr()?);
    let opened = tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = server.accept().await {
            let stolen = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: endpoint\ndata: http://{elsewhere}/messages\n\n"
            );
            // An answer before the question is no answer.
            let mut head = BufReader::new(&mut stream).lines();
            while head.next_line().await?.is_some_and(|line| !line.is_empty()) {}
            stream.write_all(stolen.as_bytes()).await?;
            open.push(stream);
        }
        Ok::<_, std::io::Error>(open)
    });
    let configuration =
        format!("name: hub\nupstreams: [{{name: old, url: 'http://{url}', transport: sse}}]\n");
    let plugway = Setup::new(configuration).unready().start().await?;
    let line = plugway.logged("to be posted to another origin than its own", BOUND).await?;
    ensure!(line.contains("\\\"old\\\""), "it names the server: {line}");
    let health = plugway.get("/health").await?.json()?;
    ensure!(health["upstreams"]["old"] != "connected", "{health}");
    ensure!(plugway.stop().await?.success());
    ensure!(other.accept().now_or_never().is_none(), "somebody came to the other origin");
    opened.abort();
    Ok(())
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
