//! Clients never see each other's state, and no upstream holds up another.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures_util::future::{join_all, try_join_all};
use plugway_tests::{DemoHttp, Plugway, demo_notes_path, plugway::Setup, wait};
use serde_json::json;

const BOUND: Duration = Duration::from_secs(10);

fn one(upstream: &DemoHttp) -> String {
    format!("name: hub\nupstreams: [{{name: clock, url: '{}'}}]\n", upstream.url())
}

#[tokio::test]
async fn two_clients_of_a_stateful_server_have_their_own_state() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let notes = demo_notes_path()?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams:\n  - {{name: clock, url: '{}'}}\n  - {{name: notes, command: '{}'}}\n",
        upstream.url(),
        notes.display()
    ))
    .await?;
    plugway.wait_until_connected(&["clock", "notes"]).await?;
    let (ann, bob) = (plugway.legacy().await?, plugway.legacy().await?);
    for expected in ["1", "2", "3"] {
        let text = ann.call_text("clock_count", json!({})).await?;
        ensure!(text.contains(expected), "ann: {text}");
    }
    let text = bob.call_text("clock_count", json!({})).await?;
    ensure!(text.contains('1'), "bob sees ann's count: {text}");

    ann.call_tool("notes_add_note", json!({"text": "only ann knows"})).await?;
    let theirs = bob.call_text("notes_list_notes", json!({})).await?;
    ensure!(!theirs.contains("only ann knows"), "bob reads ann's notes: {theirs}");
    let hers = ann.call_text("notes_list_notes", json!({})).await?;
    ensure!(hers.contains("only ann knows"), "ann lost her notes: {hers}");
    Ok(())
}

#[tokio::test]
async fn strangers_of_the_modern_era_always_find_fresh_state() -> Result<()> {
    let notes = demo_notes_path()?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: notes, command: '{}'}}]\n",
        notes.display()
    ))
    .await?;
    let stranger = plugway.modern();
    stranger.call_tool("notes_add_note", json!({"text": "a secret"})).await?;
    for _ in 0..3 {
        let text = stranger.call_text("notes_list_notes", json!({})).await?;
        ensure!(!text.contains("a secret"), "a stranger reads another's notes: {text}");
    }
    Ok(())
}

#[tokio::test]
async fn four_concurrent_first_calls_open_one_upstream_session() -> Result<()> {
    let upstream = DemoHttp::start(&["--delay-ms", "50"]).await?;
    let plugway = Plugway::start(one(&upstream)).await?;
    let client = plugway.legacy().await?;
    let before = upstream.count("initialize").await?;
    let calls = (0..4).map(|_| client.call_tool("clock_count", json!({})));
    try_join_all(calls).await?;
    let opened = upstream.count("initialize").await? - before;
    ensure!(opened == 1, "{opened} upstream sessions for one client session");
    let text = client.call_text("clock_count", json!({})).await?;
    ensure!(text.contains('5'), "the calls did not share one session: {text}");
    Ok(())
}

#[tokio::test]
async fn a_second_call_needs_no_second_upstream_session() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(one(&upstream)).await?;
    let client = plugway.legacy().await?;
    client.call_tool("clock_count", json!({})).await?;
    let (opened, requests) =
        (upstream.count("initialize").await?, upstream.count("requests").await?);
    for _ in 0..10 {
        client.call_tool("clock_count", json!({})).await?;
    }
    ensure!(upstream.count("initialize").await? == opened);
    let sent = upstream.count("requests").await? - requests;
    ensure!(sent == 10, "10 calls were {sent} upstream requests");
    Ok(())
}

#[tokio::test]
async fn a_dead_and_a_slow_upstream_delay_nobody() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let slow = DemoHttp::start(&["--delay-ms", "3000"]).await?;
    let dead = DemoHttp::start(&[]).await?;
    let dead_url = dead.url().to_owned();
    dead.kill().await?;
    // Accepts connections and never answers.
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let plugway = Setup::new(format!(
        "name: hub\nupstreams:\n  - {{name: dead, url: '{dead_url}'}}\n  - {{name: mute, url: 'http://{}/mcp'}}\n  - {{name: slow, url: '{}'}}\n  - {{name: clock, url: '{}'}}\n",
        mute.local_addr()?,
        slow.url(),
        upstream.url()
    ))
    .absent("dead")
    .absent("mute")
    .start()
    .await?;
    let client = plugway.legacy().await?;
    let waiting = client.call_tool("slow_count", json!({}));
    let mut waiting = std::pin::pin!(waiting);
    ensure!(futures_util::poll!(waiting.as_mut()).is_pending());
    let fast =
        join_all((0..20).map(|_| client.call_text("clock_echo", json!({"message": "hello"}))));
    tokio::select! {
        _ = waiting => anyhow::bail!("the slow upstream answered first"),
        answers = fast => for answer in answers {
            ensure!(answer?.contains("hello"));
        },
    }
    let health = plugway.get("/health").await?.json()?;
    ensure!(health["upstreams"]["clock"] == "connected", "{health}");
    ensure!(health["upstreams"]["dead"] != "connected", "{health}");
    ensure!(health["upstreams"]["mute"] != "connected", "{health}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_starts_later_is_found() -> Result<()> {
    let first = DemoHttp::start(&[]).await?;
    let (address, url) = (first.address().to_string(), first.url().to_owned());
    first.kill().await?;
    let plugway = Setup::new(format!("name: hub\nupstreams: [{{name: clock, url: '{url}'}}]\n"))
        .unready()
        .start()
        .await?;
    ensure!(plugway.get("/ready").await?.status == 503);
    ensure!(plugway.get("/health").await?.status == 200);
    let _again = DemoHttp::start_at(&address, &[]).await?;
    wait::until("the server is found", BOUND, || async {
        Ok(plugway.get("/ready").await.ok().filter(|answer| answer.status == 200))
    })
    .await?;
    let text = plugway.legacy().await?.call_text("clock_echo", json!({"message": "found"})).await?;
    ensure!(text.contains("found"));
    Ok(())
}

#[tokio::test]
async fn a_restarted_server_gets_a_new_session_without_the_client_noticing() -> Result<()> {
    let first = DemoHttp::start(&[]).await?;
    let address = first.address().to_string();
    let plugway = Plugway::start(one(&first)).await?;
    let client = plugway.legacy().await?;
    ensure!(client.call_text("clock_count", json!({})).await?.contains('1'));
    first.kill().await?;
    let again = DemoHttp::start_at(&address, &[]).await?;
    // The first attempt may meet the connection that died with the server; what was not started is sent again.
    let text = wait::until("the restarted server answers", BOUND, || async {
        let result = client.call_tool("clock_count", json!({})).await?;
        let failed = result["isError"] == true;
        Ok((!failed).then(|| result.to_string()))
    })
    .await?;
    ensure!(text.contains('1'), "the state of a dead server came back: {text}");
    ensure!(again.count("initialize").await? >= 1);
    Ok(())
}

#[tokio::test]
async fn a_call_to_a_dead_server_says_which_one() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(one(&upstream)).await?;
    let client = plugway.legacy().await?;
    client.call_tool("clock_count", json!({})).await?;
    upstream.kill().await?;
    let result = client.call_tool("clock_count", json!({})).await?;
    ensure!(result["isError"] == true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(text.contains("clock"), "the answer does not name the server: {text}");
    Ok(())
}
