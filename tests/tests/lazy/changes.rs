//! What becomes of loaded tools when servers, policies and the configuration change.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, Notices, Plugway, plugway::Setup, wait};
use serde_json::{Value, json};

use super::{BOUND, OWN, ask, load, others, refusal};

/// Replaces the configuration and waits until it is in place.
async fn applied(plugway: &Plugway, configuration: &Value) -> Result<()> {
    let lines =
        || plugway.stderr().iter().filter(|line| line.contains("configuration applied")).count();
    let before = lines();
    plugway.reconfigure(&configuration.to_string())?;
    let is_there = async || Ok((lines() > before).then_some(()));
    wait::until("the configuration is applied", BOUND, is_there).await
}

#[tokio::test]
async fn a_loaded_tool_leaves_and_returns_with_its_server_and_only_who_listed_it_hears()
-> Result<()> {
    let (clock, watch) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let address = clock.address().to_string();
    let closely = json!({
        "stale_for": "200ms", "health_check_interval": "100ms", "health_check_timeout": "1s",
        "reconnect": {"initial": "100ms", "max": "200ms"},
    });
    let plugway = Hub::new("hub")
        .upstream_with("clock", clock.url(), closely)
        .upstream("watch", watch.url())
        .key("discovery", json!({"mode": "lazy", "residents": ["watch_add"]}))
        .start()
        .await?;
    plugway.wait_until_connected(&["clock", "watch"]).await?;
    let (client, other) = (plugway.legacy().await?, plugway.legacy().await?);
    let (notices, others_notices) = (Notices::of(&client).await?, Notices::of(&other).await?);
    ensure!(others(&other).await? == ["watch_add"]);
    load(&client, &["clock_add"]).await?;
    notices.until_changed("tools", 1, BOUND).await?;
    ensure!(others(&client).await? == ["clock_add", "watch_add"]);

    clock.kill().await?;
    notices.until_changed("tools", 2, BOUND).await?;
    ensure!(others(&client).await? == ["watch_add"]);
    let messages = notices.messages();
    ensure!(messages.iter().any(|(_, text)| text.contains("clock_add")), "{messages:?}");
    let called = refusal(&client, "clock_add", json!({})).await?;
    ensure!(called.contains("\"clock\""), "it says which server is away: {called}");

    let _clock = DemoHttp::start_at(&address, &[]).await?;
    notices.until_changed("tools", 3, BOUND).await?;
    ensure!(others(&client).await? == ["clock_add", "watch_add"], "it stayed loaded");
    // Whatever the other one had been told would have come before what it is told of its own.
    load(&other, &["watch_echo"]).await?;
    others_notices.until_changed("tools", 1, BOUND).await?;
    ensure!(others_notices.changes("tools") == 1, "{:?}", others_notices.all());
    let messages = others_notices.messages();
    ensure!(!messages.iter().any(|(_, text)| text.contains("clock_add")), "{messages:?}");
    Ok(())
}

#[tokio::test]
async fn loads_outlive_a_reload_and_a_policy_takes_out_what_it_hides() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hides = Guest::new("visibility_by_scope");
    let configuration = |hidden: &[&str], discovery: Value| {
        let entry =
            json!({"file": hides.file(), "config": {"hide": hidden}, "limits": {"time_ms": 2_000}});
        json!({
            "name": "hub", "discovery": discovery, "plugins": {"visibility_by_scope": entry},
            "policies": ["visibility_by_scope"], "upstreams": [{"name": "clock", "url": clock.url()}],
        })
    };
    let lazy = json!("lazy");
    let plugway = Setup::new(configuration(&[], lazy.clone()).to_string())
        .file_with_mode(&hides.file(), hides.bytes()?, 0o644)
        .start()
        .await?;
    let client = plugway.legacy().await?;
    load(&client, &["clock_add", "clock_echo"]).await?;
    ensure!(others(&client).await? == ["clock_add", "clock_echo"]);

    applied(&plugway, &configuration(&["clock_add"], lazy.clone())).await?;
    ensure!(others(&client).await? == ["clock_echo"], "what a policy hides left");
    let reply = client.call("tools/call", json!({"name": "clock_add", "arguments": {}})).await?;
    ensure!(reply.error_code()? == -32602, "it is unknown: {reply:?}");
    let found = ask(&client, "find_tools", json!({"servers": ["clock"]})).await?;
    ensure!(!found.to_string().contains("clock_add"), "{found}");
    let gone = ask(&client, "unload_tools", json!({"all_items": true})).await?;
    ensure!(gone == json!({"unloaded": ["clock_echo"], "session_total": 0}), "{gone}");

    // It is still loaded, as soon as it may be seen.
    applied(&plugway, &configuration(&[], lazy)).await?;
    ensure!(others(&client).await? == ["clock_add"]);
    // Where everything is listed again, nothing needs to be loaded.
    applied(&plugway, &configuration(&[], json!("eager"))).await?;
    let listed = client.tool_names().await?;
    ensure!(listed.contains(&"clock_echo".to_owned()) && !listed.contains(&OWN[1].to_owned()));
    client.call_text("clock_echo", json!({"message": "x"})).await.context("it is callable")?;
    Ok(())
}

#[tokio::test]
async fn words_that_mean_nothing_are_refused_before_anything_serves() -> Result<()> {
    for (discovery, sentence) in [
        (json!("lazily"), "discovery` is `lazily`, but can only be eager or lazy"),
        (json!({"residents": []}), "discovery` has no `mode`"),
        (
            json!({"mode": "eager", "cap": 3}),
            "discovery.cap` means nothing where every tool is listed",
        ),
        (json!({"mode": "lazy", "cap": 257}), "discovery.cap` must be from 1 to 256"),
        (json!({"mode": "lazy", "idle": "1ms"}), "discovery.idle` must be from 10ms to 24h"),
        (json!({"mode": "lazy", "residents": [""]}), "discovery.residents[0]` is empty"),
        (
            json!({"mode": "lazy", "resident": []}),
            "discovery.resident` is not a key that plugway knows",
        ),
    ] {
        let hub = Hub::before("http://127.0.0.1:9/mcp").key("discovery", discovery.clone());
        let output = hub.setup()?.check().await?;
        ensure!(!output.status.success(), "{discovery}: {}", output.status);
        ensure!(output.stderr.contains(sentence), "{discovery}: {}", output.stderr);
    }
    Ok(())
}
