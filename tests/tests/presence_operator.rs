//! A server that its operator takes out, and one that is given up.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use http::Method;
use plugway_tests::admin::Admin;
use plugway_tests::{DemoHttp, Hub, Notices, Plugway, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// What the status tool says of the only server.
async fn status(client: &Client) -> Result<Value> {
    let status = client.call_tool("hub_status", json!({})).await?;
    status.pointer("/structuredContent/servers/0").cloned().context("no server")
}

async fn until_listed(client: &Client, listed: bool) -> Result<()> {
    wait::until(&format!("clock_echo listed: {listed}"), BOUND, async || {
        let names = client.tool_names().await?;
        Ok((names.iter().any(|name| name == "clock_echo") == listed).then_some(()))
    })
    .await
}

async fn refusal(client: &Client) -> Result<String> {
    let result = client.call_tool("clock_echo", json!({"message": "x"})).await?;
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    text.map(str::to_owned).with_context(|| format!("no text in {result}"))
}

#[tokio::test]
async fn what_the_operator_takes_out_leaves_at_once_and_comes_back() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    // Neither of the two rules for outages holds here.
    let rules = json!({"stale_for": "10m", "unavailable": "keep"});
    let plugway = Hub::new("hub")
        .upstream_with("clock", clock.url(), rules)
        .top("admin", json!({"listen": "127.0.0.1:0", "token_file": "admin.token"}))
        .start()
        .await?;
    let admin = Admin::of(&plugway).await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let before = client.tool_names().await?;
    for word in ["disable", "enable"] {
        let path = format!("upstreams/hub/clock/{word}");
        let answer = admin.ask(Method::POST, &path, Some(admin.token())).await?;
        ensure!(answer.status < 300, "{word}: {} {}", answer.status, answer.text());
        until_listed(&client, word == "enable").await?;
        let said = status(&client).await?;
        if word == "disable" {
            let text = refusal(&client).await?;
            let why = "was taken out of service by its operator at 20";
            ensure!(text.contains(why), "{text}");
            ensure!(text.ends_with("it stays away until its operator puts it back."), "{text}");
            ensure!(said["reason"] == "disabled" && said["listed"] == false, "{said}");
            notices.until_changed("tools", 1, BOUND).await?;
        }
    }
    notices.until_changed("tools", 2, BOUND).await?;
    ensure!(client.tool_names().await? == before);
    ensure!(refusal(&client).await? == "x");
    let levels: Vec<String> = notices.messages().into_iter().map(|(level, _)| level).collect();
    ensure!(levels == ["warning", "notice"], "{:?}", notices.all());
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_given_up_is_said_to_be() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', stale_for: 100ms, health_check_interval: 100ms, reconnect: {{initial: 50ms, max: 50ms, attempts: 2}}}}]\n",
        clock.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    clock.kill().await?;
    wait::until("it is given up", BOUND, async || {
        let said = status(&client).await?;
        Ok((said["state"] == "disconnected").then_some(()))
    })
    .await?;
    until_listed(&client, false).await?;
    let text = refusal(&client).await?;
    ensure!(text.starts_with("The server \"clock\" is away since 20"), "{text}");
    ensure!(text.ends_with("no further attempt to reach it is due."), "{text}");
    let said = status(&client).await?;
    ensure!(said.get("next_attempt_seconds").is_none() && said["attempt"] == 2, "{said}");
    Ok(())
}
