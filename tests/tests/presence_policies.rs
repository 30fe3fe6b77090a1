//! What is hidden from a caller stays hidden when its server goes away.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, Notices, wait};
use serde_json::json;

const BOUND: Duration = Duration::from_secs(20);

#[tokio::test]
async fn nobody_hears_of_a_server_that_is_hidden_from_them() -> Result<()> {
    let (hidden, shown) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let keys = json!({
        "stale_for": "100ms", "health_check_interval": "100ms", "reconnect": {"initial": "100ms", "max": "200ms"},
    });
    // `clock://*` are the resources of both.
    let policy =
        Guest::new("visibility_by_scope").config(json!({"hide": ["secret_*", "clock://*"]}));
    let plugway = Hub::new("hub")
        .upstream_with("secret", hidden.url(), keys.clone())
        .upstream_with("open", shown.url(), keys)
        .policy(policy)
        .start()
        .await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let all = client.tool_names().await?;
    ensure!(all.len() == 5, "{all:?}");

    hidden.kill().await?;
    wait::until("the hidden server has left the lists", BOUND, async || {
        let health = plugway.get("/health").await?.json()?;
        Ok((health["upstream_details"]["secret"]["listed"] == false).then_some(()))
    })
    .await?;
    let unknown = client.call("tools/call", json!({"name": "secret_echo"})).await?;
    ensure!(unknown.error_code()? == -32602, "{unknown:?}");
    ensure!(client.tool_names().await? == all);
    let late = plugway.legacy().await?;
    let told = late.initialized().context("no result")?["instructions"].to_string();
    ensure!(told.contains("## open") && !told.contains("secret"), "{told}");
    let status = client.call_tool("hub_status", json!({})).await?.to_string();
    ensure!(!status.contains("secret") && status.contains("open_echo"), "{status}");

    // What is told later is told after what would have been told of the hidden one.
    shown.kill().await?;
    notices.until_changed("prompts", 1, BOUND).await?;
    let told = notices.all();
    ensure!(!format!("{told:?}").contains("secret"), "{told:?}");
    ensure!((notices.changes("tools"), notices.changes("resources")) == (1, 0), "{told:?}");
    let messages = notices.messages();
    ensure!(
        messages.len() == 1 && messages.iter().all(|(_, text)| text.contains("open_echo")),
        "{messages:?}"
    );
    Ok(())
}
