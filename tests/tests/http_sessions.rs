//! The life of a legacy session over HTTP: opened in every revision, bounded in number, expired, ended; its stream.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, ensure};
use http_body_util::Full;
use plugway_tests::{Plugway, Scripted, http, rpc, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

fn hub(upstream: &Scripted, limits: &str) -> String {
    format!(
        "name: hub\nlimits: {{{limits}}}\nupstreams: [{{name: up, url: '{}'}}]\n",
        upstream.url()
    )
}

fn initialize(revision: &str) -> String {
    let info = json!({"name": "plugway-tests", "version": "0"});
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

/// Opens a session in a revision: its id, and the revision that was agreed on.
async fn open(address: SocketAddr, revision: &str) -> Result<(String, String)> {
    let answer = http::post(address, "/mcp", &[], initialize(revision)).await?;
    let session = answer.header("mcp-session-id").context("no session id")?.to_owned();
    let agreed = answer.json()?;
    let agreed = agreed.pointer("/result/protocolVersion").and_then(Value::as_str);
    let agreed =
        agreed.map(str::to_owned).with_context(|| format!("no revision in {}", answer.text()))?;
    let head = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", agreed.as_str())];
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    ensure!(http::post(address, "/mcp", &head, ready).await?.status == 202);
    Ok((session, agreed))
}

#[tokio::test]
async fn every_revision_gets_the_one_it_asked_for_or_the_newest_with_sessions() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = Plugway::start(hub(&upstream, "")).await?;
    for (asked, wanted) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        ("yesterday", "2025-11-25"),
    ] {
        let (session, agreed) = open(plugway.address(), asked).await?;
        ensure!(agreed == wanted, "{asked} became {agreed}");
        ensure!(session.bytes().all(|byte| byte.is_ascii_graphic()), "{session:?}");
        let head =
            [("mcp-session-id", session.as_str()), ("mcp-protocol-version", agreed.as_str())];
        let list = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;
        let listed = http::post(plugway.address(), "/mcp", &head, list).await?;
        ensure!(listed.json()?["result"]["tools"].is_array(), "{asked}: {}", listed.text());
        // Clients of the first revisions send no version header.
        let listed = http::post(plugway.address(), "/mcp", &head[..1], list).await?;
        ensure!(listed.json()?["result"]["tools"].is_array(), "{asked}: {}", listed.text());
    }
    Ok(())
}

#[tokio::test]
async fn a_batch_is_answered_as_an_array_in_its_one_revision_and_refused_elsewhere() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = Plugway::start(hub(&upstream, "")).await?;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},
        {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}},
        {"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"up_json","arguments":{}}},
        {"jsonrpc":"2.0","id":3,"method":"no/such"}]"#;
    let (session, _) = open(plugway.address(), "2025-03-26").await?;
    let head = [("mcp-session-id", session.as_str())];
    let answer = http::post(plugway.address(), "/mcp", &head, batch).await?;
    let answers = answer.json()?;
    let answers = answers.as_array().context("no array")?;
    let of = |id: Value| answers.iter().find(|answer| answer["id"] == id);
    ensure!(answers.len() == 3, "{answers:?}");
    ensure!(of(json!(1)).context("no ping")?["result"].is_object());
    ensure!(of(json!("two")).context("no call")?["result"]["content"][0]["text"] == "json");
    ensure!(of(json!(3)).context("no error")?["error"]["code"] == -32601);
    let silent = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    ensure!(http::post(plugway.address(), "/mcp", &head, silent).await?.status == 202);

    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let (session, _) = open(plugway.address(), revision).await?;
        let head = [("mcp-session-id", session.as_str())];
        let refused = http::post(plugway.address(), "/mcp", &head, batch).await?;
        ensure!(refused.status == 400 && refused.json()?["error"]["code"] == -32600, "{revision}");
    }
    ensure!(upstream.calls() == 1, "a refused batch was carried out");
    Ok(())
}

#[tokio::test]
async fn an_idle_session_expires_here_and_at_the_upstream() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = Plugway::start(hub(&upstream, "session_idle: 300ms")).await?;
    let (idle, listening) = (plugway.legacy().await?, plugway.legacy().await?);
    let mut stream = listening.listen().await?;
    for client in [&idle, &listening] {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    // plugway's own session, and one for each client
    ensure!(upstream.sessions() == 3, "{} sessions", upstream.sessions());
    wait::until("the idle session ends at the upstream", BOUND, async || {
        Ok((upstream.deletes() == 1).then_some(()))
    })
    .await?;
    let late = idle.call("tools/call", json!({"name": "up_json", "arguments": {}})).await?;
    ensure!(late.status == 404, "{} {}", late.status, late.text);
    // Whoever listens is there.
    ensure!(listening.call_text("up_json", json!({})).await? == "json");
    listening.delete().await?;
    ensure!(stream.next(BOUND).await?.is_none(), "the stream outlived its session");
    Ok(())
}

#[tokio::test]
async fn more_sessions_than_allowed_are_refused_and_the_others_go_on() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = Plugway::start(hub(&upstream, "max_sessions: 2")).await?;
    let (one, two) = (plugway.legacy().await?, plugway.legacy().await?);
    let refused = http::post(plugway.address(), "/mcp", &[], initialize(rpc::LEGACY)).await?;
    ensure!(refused.status == 503, "{} {}", refused.status, refused.text());
    let wait: u64 = refused.header("retry-after").context("no Retry-After")?.parse()?;
    ensure!((1..=60).contains(&wait));
    ensure!(refused.json()?["error"]["message"].as_str().is_some_and(|text| text.contains('2')));
    for client in [&one, &two, &plugway.modern()] {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    one.delete().await?;
    let three = plugway.legacy().await?;
    ensure!(three.call_text("up_json", json!({})).await? == "json");
    Ok(())
}

#[tokio::test]
async fn a_deleted_session_is_gone_here_and_at_the_upstream() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = Plugway::start(hub(&upstream, "")).await?;
    let (client, other) = (plugway.legacy().await?, plugway.legacy().await?);
    for client in [&client, &other] {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    let status = client.delete().await?;
    ensure!((200..300).contains(&status), "{status}");
    wait::until("the upstream's session ends", BOUND, async || {
        Ok((upstream.deletes() == 1).then_some(()))
    })
    .await?;
    ensure!(client.delete().await? == 404);
    ensure!(client.call("tools/list", json!({})).await?.status == 404);
    ensure!(other.call_text("up_json", json!({})).await? == "json");
    // A client that never called has no session at the upstream to end.
    plugway.legacy().await?.delete().await?;
    ensure!(plugway.stop().await?.success());
    // plugway ends the other client's session and its own.
    ensure!(upstream.sessions() == 0 && upstream.deletes() == 3, "{} left", upstream.sessions());
    Ok(())
}

#[tokio::test]
async fn a_stream_opens_at_once_and_a_newer_one_takes_over() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = Plugway::start(hub(&upstream, "")).await?;
    let client = plugway.legacy().await?;
    let request = ::http::Request::get("/mcp")
        .header("host", plugway.address().to_string())
        .header("accept", "text/event-stream")
        .header("mcp-session-id", client.session().context("no session")?)
        .header("mcp-protocol-version", rpc::LEGACY)
        .body(Full::default())?;
    // `open` returns with the head: nothing has been sent on the stream.
    let opened = http::open(plugway.address(), request).await?;
    ensure!(opened.status() == 200);
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("x-accel-buffering", "no"),
        ("cache-control", "no-cache"),
    ] {
        let given = opened.headers().get(name).and_then(|value| value.to_str().ok());
        ensure!(given.is_some_and(|given| given.starts_with(value)), "{name}: {given:?}");
    }
    let mut first = client.listen().await?;
    let second = client.listen().await?;
    ensure!(first.next(BOUND).await?.is_none(), "the older stream went on");
    ensure!(client.call_text("up_json", json!({})).await? == "json");
    drop(second);
    drop(client.listen().await?);
    Ok(())
}

#[tokio::test]
async fn an_open_stream_does_not_hold_up_the_end() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = Plugway::start(hub(&upstream, "shutdown_grace: 1h")).await?;
    let client = plugway.legacy().await?;
    let mut stream = client.listen().await?;
    let stopped = wait::within("plugway ends", Duration::from_secs(5), plugway.stop());
    ensure!(stopped.await??.success());
    ensure!(stream.next(BOUND).await?.is_none());
    Ok(())
}

#[tokio::test]
async fn an_upstream_without_a_stream_is_not_opened_again_and_again() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = Plugway::start(hub(&upstream, "")).await?;
    let client = plugway.legacy().await?;
    let _stream = client.listen().await?;
    for _ in 0..50 {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    // One session of plugway's own and one of the client's; each may have asked for a stream once.
    ensure!(upstream.initializes() == 2, "{} times initialize", upstream.initializes());
    ensure!(upstream.gets() <= 2, "{} times GET", upstream.gets());
    Ok(())
}
