//! Servers that are slow, dead or late at the start, and what the status says of them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures_util::future::join_all;
use plugway_tests::{DemoHttp, Notices, Plugway, plugway::Setup, wait};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const BOUND: Duration = Duration::from_secs(20);

/// Three servers that answer, one that accepts connections and never answers, one that is not there.
async fn five(mute: &TcpListener) -> Result<(Vec<DemoHttp>, Setup)> {
    let mut alive = Vec::new();
    for _ in 0..3 {
        alive.push(DemoHttp::start(&[]).await?);
    }
    let dead = DemoHttp::start(&[]).await?;
    let dead_url = dead.url().to_owned();
    dead.kill().await?;
    let servers = alive.iter().enumerate();
    let servers =
        servers.map(|(number, server)| format!("{{name: alive{number}, url: '{}'}}", server.url()));
    let servers = [
        format!("{{name: dead, url: '{dead_url}'}}"),
        format!("{{name: mute, url: 'http://{}/mcp'}}", mute.local_addr()?),
    ]
    .into_iter()
    .chain(servers);
    let servers = servers.collect::<Vec<_>>().join(", ");
    let configuration = format!("name: hub\nupstreams: [{servers}]\n");
    Ok((alive, Setup::new(configuration)))
}

/// stacklok/toolhive#5861: one slow server must not cost anybody their `initialize`; PrefectHQ/fastmcp#2019: nor what
/// plugway serves itself.
#[tokio::test]
async fn a_slow_and_a_dead_server_delay_neither_the_start_nor_anybody() -> Result<()> {
    let mute = TcpListener::bind("127.0.0.1:0").await?;
    let (_alive, setup) = five(&mute).await?;
    // Plugins are compiled once and kept; what is measured is a start after that.
    setup.clone().absent("dead").absent("mute").start().await?.stop().await?;
    let exec = Instant::now();
    let mut plugway = setup.unready().start().await?;
    plugway.wait_until_ready().await?;
    let took = exec.elapsed();
    ensure!(took < Duration::from_secs(1), "ready after {took:?}");
    let start = Instant::now();
    let clients = join_all((0..20).map(|_| plugway.legacy())).await;
    let took = start.elapsed();
    for client in &clients {
        ensure!(client.is_ok(), "{client:?}");
    }
    ensure!(took < Duration::from_secs(1), "20 sessions took {took:?}");
    let client = clients.into_iter().next().context("no client")??;
    let start = Instant::now();
    let status = client.call_tool("hub_status", json!({})).await?;
    let took = start.elapsed();
    ensure!(took < Duration::from_secs(1), "the status took {took:?}");
    let servers = status["structuredContent"]["servers"].as_array().context("no servers")?;
    let names: Vec<&Value> = servers.iter().map(|server| &server["name"]).collect();
    ensure!(names == ["dead", "mute", "alive0", "alive1", "alive2"], "{names:?}");
    Ok(())
}

/// stacklok/toolhive#5786: a server that comes later must reach the sessions that are there.
#[tokio::test]
async fn sessions_are_told_of_a_server_that_starts_later() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let (address, url) = (clock.address().to_string(), clock.url().to_owned());
    clock.kill().await?;
    let plugway = Setup::new(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{url}', reconnect: {{initial: 100ms, max: 200ms}}}}]\n"
    ))
    .unready()
    .start()
    .await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    // A kind that may still come is declared, else no client would ask for it later.
    let capabilities = &client.initialized().context("no result")?["capabilities"];
    for kind in ["tools", "prompts", "resources"] {
        ensure!(capabilities[kind]["listChanged"] == true, "{capabilities}");
    }
    ensure!(!client.tool_names().await?.iter().any(|name| name.starts_with("clock_")));
    let _clock = DemoHttp::start_at(&address, &[]).await?;
    for list in ["tools", "prompts", "resources"] {
        notices.until_changed(list, 1, BOUND).await?;
    }
    ensure!(client.call_text("clock_echo", json!({"message": "hi"})).await? == "hi");
    ensure!(notices.messages().is_empty(), "nothing was gone: {:?}", notices.all());
    Ok(())
}

/// sparfenyuk/mcp-proxy#213: a broken server must not stop the others, and somebody has to hear of it.
#[tokio::test]
async fn the_status_tells_of_every_server() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Setup::new(format!(
        "name: hub\nupstreams:\n  - {{name: broken, command: ./no-such-program}}\n  - {{name: clock, url: '{}'}}\n",
        clock.url()
    ))
    .absent("broken")
    .start()
    .await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let tools = client.call("tools/list", json!({})).await?.result()?["tools"].clone();
        let tool = tools.as_array().and_then(|tools| tools.last()).context("no tools")?;
        ensure!(tool["name"] == "hub_status" && tool["outputSchema"]["type"] == "object", "{tool}");
        ensure!(tool["annotations"]["readOnlyHint"] == true, "{tool}");
        let status = wait::until("an attempt failed", BOUND, async || {
            let status = client.call_tool("hub_status", json!({})).await?;
            let broken = &status["structuredContent"]["servers"][0];
            Ok((broken["attempt"].as_u64() > Some(0)).then_some(status))
        })
        .await?;
        let text = status["content"][0]["text"].as_str().context("no text")?;
        let content = &status["structuredContent"];
        ensure!(serde_json::from_str::<Value>(text)? == *content, "{status}");
        let (broken, clock) = (&content["servers"][0], &content["servers"][1]);
        ensure!(broken["name"] == "broken" && broken["state"] != "connected", "{broken}");
        ensure!(
            broken["reason"] == "upstream-unavailable" && broken["listed"] == false,
            "{broken}"
        );
        ensure!(broken["tools"] == json!([]) && !text.contains("no-such-program"), "{broken}");
        ensure!(clock["state"] == "connected" && clock["listed"] == true, "{clock}");
        ensure!(clock["since"].as_str().is_some_and(|since| since.ends_with('Z')), "{clock}");
        ensure!(clock["tool_count"] == 4 && clock["tools"][0] == "clock_add", "{clock}");
        let read = client.call("resources/read", json!({"uri": "plugway://hub/status"})).await?;
        let contents = &read.result()?["contents"][0];
        ensure!(contents["mimeType"] == "application/json", "{contents}");
        let text = contents["text"].as_str().context("no text")?;
        ensure!(serde_json::from_str::<Value>(text)?["connector"] == "hub", "{text}");
    }
    for path in ["/health", "/ready"] {
        let said = plugway.get(path).await?.json()?;
        let said = said.get("connectors").and_then(|all| all.get("hub")).unwrap_or(&said).clone();
        ensure!(said["upstreams"]["clock"] == "connected", "{path}: {said}");
        let broken = &said["upstream_details"]["broken"];
        ensure!(broken["since_seconds"].is_u64() && broken["attempt"].is_u64(), "{path}: {said}");
    }
    Ok(())
}

#[tokio::test]
async fn the_status_can_be_left_out() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nstatus: false\nupstreams: [{{name: clock, url: '{}'}}]\n",
        clock.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    ensure!(client.tool_names().await?.len() == 4);
    let unknown = client.call("tools/call", json!({"name": "hub_status"})).await?;
    ensure!(unknown.error_code()? == -32602, "{unknown:?}");
    // A URI that nobody lists goes to the only server with resources, which does not know it either.
    let read = client.call("resources/read", json!({"uri": "plugway://hub/status"})).await?;
    ensure!(read.error_code()? == -32002, "{read:?}");
    Ok(())
}
