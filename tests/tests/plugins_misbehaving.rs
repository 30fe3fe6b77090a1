//! Plugins that misbehave hurt their own call alone, and are named in log and metrics.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use plugway_tests::{DemoHttp, Guest, Hub, Plugway, hub, metrics, process, rpc::Client};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(10);
/// What plugway may grow by while a guest misbehaves: one instance's memory, and some.
const GROWTH_MAX: u64 = 96 << 20;
/// Calls of each client.
const CALLS: u32 = 10;

fn with_time(guest: &str, ms: u32) -> Guest {
    Guest::new(guest).with("limits", json!({"time_ms": ms}))
}

/// A connector `bad` with the guest, and one `good` without.
async fn beside_a_good_one(guest: Guest, clock: &DemoHttp) -> Result<Plugway> {
    let before = Hub::before(clock.url());
    hub::setup(&[before.clone().named("bad").policy(guest), before.named("good")])?.start().await
}

async fn echo(client: &Client, message: &str) -> Result<Value> {
    let params = json!({"name": "clock_echo", "arguments": {"message": message}});
    Ok(client.call("tools/call", params).await?.response()?.clone())
}

/// All calls of the bad connector are refused in plain words while all of the good one are served.
async fn hurts_only_itself(guest: Guest, name: &str, class: &str, says: &str) -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = beside_a_good_one(guest, &clock).await?;
    let client = |path| Client::legacy(plugway.address(), path);
    let (bad, good) = (client("/bad/mcp").await?, client("/good/mcp").await?);
    let (bad_stranger, good_stranger) = (
        Client::modern(plugway.address(), "/bad/mcp"),
        Client::modern(plugway.address(), "/good/mcp"),
    );
    try_join_all([echo(&good, "warm"), echo(&good_stranger, "warm")]).await?;
    let warm = clock.count("tools/call").await?;
    let before = process::resident_bytes(plugway.pid()?)?;

    let refused = async |client: &Client| {
        for _ in 0..CALLS {
            let answer = echo(client, "hi").await?;
            ensure!(answer["error"]["code"] == -32603, "{name}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap_or_default();
            ensure!(message.contains(says) && !message.contains(name), "{name}: {message}");
        }
        anyhow::Ok(())
    };
    let served = async |client: &Client| {
        for turn in 0..CALLS {
            let message = turn.to_string();
            let answer = echo(client, &message).await?;
            ensure!(answer["result"]["content"][0]["text"] == *message, "{answer}");
        }
        anyhow::Ok(())
    };
    tokio::try_join!(
        try_join_all([&bad, &bad_stranger].map(|client| Box::pin(refused(client)))),
        try_join_all([&good, &good_stranger].map(|client| Box::pin(served(client)))),
    )?;

    let reached = clock.count("tools/call").await? - warm;
    ensure!(reached == u64::from(2 * CALLS), "{name}: {reached} calls reached the upstream");
    let after = process::resident_bytes(plugway.pid()?)?;
    ensure!(after < before + GROWTH_MAX, "{name}: from {before} to {after} bytes resident");
    let labels = [("plugin", name), ("connector", "bad"), ("class", class)];
    let failures = metrics::sum(&plugway, metrics::ERRORS, &labels).await?;
    ensure!(failures >= f64::from(2 * CALLS), "{name}: {failures} failures of class {class}");
    let line = plugway.logged(&format!("\"class\":\"{class}\""), BOUND).await?;
    ensure!(line.contains(name) && line.contains("bad"), "{line}");
    Ok(())
}

#[tokio::test]
async fn an_endless_loop() -> Result<()> {
    Box::pin(hurts_only_itself(
        with_time("loop_forever", 10),
        "loop_forever",
        "timeout",
        "too long",
    ))
    .await
}

#[tokio::test]
async fn heavy_a_memory_bomb() -> Result<()> {
    let guest = with_time("memory_bomb", 20_000);
    Box::pin(hurts_only_itself(guest, "memory_bomb", "memory", "memory")).await
}

#[tokio::test]
async fn a_panic() -> Result<()> {
    Box::pin(hurts_only_itself(Guest::new("panics"), "panics", "trap", "crashed")).await
}

#[tokio::test]
async fn a_flood_of_host_calls() -> Result<()> {
    let guest = with_time("host_call_flood", 20_000);
    Box::pin(hurts_only_itself(guest, "host_call_flood", "flood", "crashed")).await
}

#[tokio::test]
async fn heavy_a_giant_result() -> Result<()> {
    let guest = with_time("giant_result", 20_000);
    Box::pin(hurts_only_itself(guest, "giant_result", "invalid", "invalid")).await
}

#[tokio::test]
async fn failures_that_the_operator_lets_pass() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    for name in ["loop_forever", "panics"] {
        let guest = with_time(name, 10).passing();
        let plugway = Hub::before(clock.url()).policy(guest).start().await?;
        let answer = echo(&plugway.legacy().await?, "hi").await?;
        ensure!(answer["result"]["content"][0]["text"] == "hi", "{name}: {answer}");
        plugway.logged(name, BOUND).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_flood_of_log_lines_is_cut_and_counted() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let guest = with_time("log_flood", 20_000);
    let plugway = beside_a_good_one(guest, &clock).await?;
    let bad = Client::legacy(plugway.address(), "/bad/mcp").await?;
    let good = Client::legacy(plugway.address(), "/good/mcp").await?;
    let before = process::resident_bytes(plugway.pid()?)?;
    for _ in 0..CALLS {
        // Its calls are served: it does nothing worse than to write.
        let answers = try_join_all([echo(&bad, "hi"), echo(&good, "hi")]).await?;
        for answer in answers {
            ensure!(answer["result"]["content"][0]["text"] == "hi", "{answer}");
        }
    }
    let lines = plugway.stderr();
    let own: Vec<&String> = lines.iter().filter(|line| line.contains("xxxxxxxx")).collect();
    // 40,000 lines were written: 32 of each call and of each way are kept at most.
    ensure!(!own.is_empty() && own.len() <= 640, "{} lines", own.len());
    ensure!(own.iter().all(|line| line.contains("log_flood")), "a line without its plugin");
    let after = process::resident_bytes(plugway.pid()?)?;
    ensure!(after < before + GROWTH_MAX, "from {before} to {after} bytes resident");
    let labels = [("plugin", "log_flood"), ("connector", "bad")];
    let dropped = metrics::sum(&plugway, metrics::LOG_DROPPED, &labels).await?;
    ensure!(dropped > 30_000.0, "{dropped} lines dropped");
    Ok(())
}

#[tokio::test]
async fn one_that_fails_sometimes_serves_the_next_call() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(Guest::new("fails_sometimes")).start().await?;
    let client = plugway.legacy().await?;
    for turn in 0..12 {
        let answer = echo(&client, "hi").await?;
        let fails = turn % 3 == 2;
        ensure!(answer["error"].is_object() == fails, "call {turn}: {answer}");
    }
    let labels = [("plugin", "fails_sometimes"), ("class", "trap")];
    let traps = metrics::sum(&plugway, metrics::ERRORS, &labels).await?;
    ensure!((traps - 4.0).abs() < f64::EPSILON, "{traps} traps");
    Ok(())
}

#[tokio::test]
async fn one_that_leaks_is_replaced_before_it_is_large() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let echoes = Guest::new("imports_echo").config(json!({"attributes": ["leaks/mib"]}));
    let plugway =
        Hub::before(clock.url()).policy(Guest::new("leaks")).policy(echoes).start().await?;
    let client = plugway.legacy().await?;
    let before = process::resident_bytes(plugway.pid()?)?;
    let mut most = 0;
    for _ in 0..60 {
        let seen = client.call_tool("clock_now", json!({})).await?;
        let kept = &seen["structuredContent"]["call"]["attributes"]["leaks/mib"];
        most = most.max(kept.as_str().unwrap_or_default().parse::<u32>()?);
    }
    ensure!((2..=10).contains(&most), "an instance kept {most} MiB");
    let after = process::resident_bytes(plugway.pid()?)?;
    ensure!(after < before + GROWTH_MAX, "from {before} to {after} bytes resident");
    Ok(())
}

#[tokio::test]
async fn a_crafted_argument_hurts_nobody_else() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(Guest::new("traps_on_argument")).start().await?;
    let (ann, bob) = (plugway.legacy().await?, plugway.legacy().await?);
    let boom = json!({"name": "clock_echo", "arguments": {"message": "hi", "boom": true}});
    let attack = async {
        for _ in 0..50 {
            let reply = ann.call("tools/call", boom.clone()).await?;
            ensure!(reply.error_code()? == -32603, "{reply:?}");
            ensure!(reply.text.contains("crashed"), "{}", reply.text);
        }
        anyhow::Ok(())
    };
    let work = async {
        for turn in 0..50 {
            let message = turn.to_string();
            let answer = echo(&bob, &message).await?;
            ensure!(answer["result"]["content"][0]["text"] == *message, "{answer}");
        }
        anyhow::Ok(())
    };
    tokio::try_join!(attack, work)?;
    // Strangers are one caller more, and two are not several.
    for _ in 0..20 {
        plugway.modern().call("tools/call", boom.clone()).await?;
    }
    for client in [&ann, &bob, &plugway.modern()] {
        let answer = echo(client, "still here").await?;
        ensure!(answer["result"]["content"][0]["text"] == "still here", "{answer}");
    }
    let labels = [("plugin", "traps_on_argument"), ("class", "trap")];
    let traps = metrics::sum(&plugway, metrics::ERRORS, &labels).await?;
    ensure!((traps - 70.0).abs() < f64::EPSILON, "{traps} traps");
    Ok(())
}
