//! What sessions are told of a changed configuration.

use std::time::Duration;

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Notices, Plugway, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(30);

/// Replaces the configuration and waits until it is in place.
async fn applied(plugway: &Plugway, upstreams: &[Value]) -> Result<()> {
    let count =
        || plugway.stderr().iter().filter(|line| line.contains("configuration applied")).count();
    let before = count();
    plugway.reconfigure(&json!({"name": "hub", "upstreams": upstreams}).to_string())?;
    wait::until(
        "the configuration is applied",
        BOUND,
        async || Ok((count() > before).then_some(())),
    )
    .await
}

#[tokio::test]
async fn a_changed_configuration_is_told_once_and_only_where_lists_differ() -> Result<()> {
    let (clock, other) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let remote = |name: &str, url: &str, stale_for: &str| json!({"name": name, "url": url, "stale_for": stale_for});
    let first = remote("clock", clock.url(), "5s");
    let plugway = Plugway::start(json!({"name": "hub", "upstreams": [first]}).to_string()).await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let before = client.tool_names().await?;

    // Another connector takes over, whose lists are the same.
    let kept = remote("clock", clock.url(), "6s");
    applied(&plugway, std::slice::from_ref(&kept)).await?;
    ensure!(client.tool_names().await? == before);
    // Whatever that had led to would come before what this leads to.
    applied(&plugway, &[kept.clone(), remote("other", other.url(), "5s")]).await?;
    notices.until_changed("tools", 1, BOUND).await?;
    ensure!(client.tool_names().await?.iter().any(|name| name == "other_echo"));
    applied(&plugway, &[kept]).await?;
    notices.until_changed("tools", 2, BOUND).await?;
    ensure!(client.tool_names().await? == before);
    ensure!(notices.changes("tools") == 2, "{:?}", notices.all());
    ensure!(notices.messages().is_empty(), "nobody was away: {:?}", notices.all());
    Ok(())
}
