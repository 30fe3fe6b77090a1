//! Servers that die, come back, move or lead back to plugway itself, seen through the real binary.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Plugway, Scripted, plugway::Setup, wait};
use serde_json::json;
use tokio::net::TcpListener;

const BOUND: Duration = Duration::from_secs(20);

async fn phase(plugway: &Plugway, upstream: &str) -> Result<String> {
    let health = plugway.get("/health").await?.json()?;
    let phase = health.get("upstreams").and_then(|phases| phases.get(upstream)?.as_str());
    phase.map(str::to_owned).context("the upstream is not in /health")
}

async fn until(plugway: &Plugway, upstream: &str, wanted: &str) -> Result<()> {
    wait::until(&format!("{upstream} is {wanted}"), BOUND, async || {
        Ok((phase(plugway, upstream).await? == wanted).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_killed_server_is_noticed_without_any_call_and_found_again() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let address = clock.address().to_string();
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', health_check_interval: 200ms}}]\n",
        clock.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    ensure!(client.call_text("clock_echo", json!({"message": "a"})).await?.contains('a'));
    let sessions = clock.count("initialize").await?;
    clock.kill().await?;
    until(&plugway, "clock", "reconnecting").await?;
    ensure!(sessions == 1, "the client's; plugway's own questions need none: {sessions}");

    let clock = DemoHttp::start_at(&address, &[]).await?;
    until(&plugway, "clock", "connected").await?;
    // The server knows nothing of the old session: a new one is opened for the same client, who does not notice.
    ensure!(client.call_text("clock_echo", json!({"message": "b"})).await?.contains('b'));
    ensure!(clock.count("initialize").await? == 1);
    Ok(())
}

/// A connector behind itself would call itself for ever.
#[tokio::test]
async fn an_upstream_that_is_plugway_itself_is_refused_with_a_sentence() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    drop(listener);
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{port}/mcp");
        let plugway =
            Setup::new(format!("name: hub\nupstreams: [{{name: itself, url: '{url}'}}]\n"))
                .environment("PORT", port.to_string())
                .chooses_address()
                .unready()
                .start()
                .await?;
        ensure!(plugway.address().port() == port);
        let line = plugway.logged("plugway itself listens there", BOUND).await?;
        ensure!(line.contains("itself") && line.contains("hub"), "{line}");
        ensure!(phase(&plugway, "itself").await? == "disconnected");
        ensure!(plugway.stop().await?.success());
    }
    Ok(())
}

#[tokio::test]
async fn a_metadata_address_is_refused_whoever_configures_it() -> Result<()> {
    let setup =
        Setup::new("name: hub\nupstreams: [{name: cloud, url: 'http://169.254.169.254/mcp'}]\n");
    let plugway = setup.unready().start().await?;
    plugway.logged("the address of a cloud metadata service", BOUND).await?;
    Ok(())
}

/// envoyproxy/ai-gateway #1924, #1925: 405 to `GET` is remembered, and is no reason to read anything again.
#[tokio::test]
async fn a_server_without_a_stream_is_left_in_peace() -> Result<()> {
    let scripted = Scripted::start().await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: s, url: '{}', health_check_interval: 100ms}}]\n",
        scripted.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    for _ in 0..20 {
        client.call_text("s_json", json!({})).await?;
    }
    // `/health` and the stream: each once, however many checks there are.
    wait::until("both were asked for", BOUND, async || Ok((scripted.gets() == 2).then_some(())))
        .await?;
    ensure!(scripted.initializes() == 2 && scripted.sessions() == 2);
    Ok(())
}

#[tokio::test]
async fn a_working_directory_that_does_not_exist_is_named() -> Result<()> {
    let setup =
        Setup::new("name: hub\nupstreams: [{name: notes, command: 'true', cwd: /no/such/place}]\n");
    let plugway = setup.unready().start().await?;
    plugway.logged("the working directory /no/such/place does not exist", BOUND).await?;
    Ok(())
}
