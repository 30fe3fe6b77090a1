//! Lists that change in the middle of a session.

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Plugway, wait};
use serde_json::{Value, json};

use super::{BOUND, call, is_blocked};

fn configuration(clock: &DemoHttp, gateway: &Value) -> String {
    let upstreams = json!([{"name": "clock", "url": clock.url()}]);
    let policies = json!([{"use": "gateway", "config": gateway}]);
    json!({"name": "hub", "upstreams": upstreams, "policies": policies}).to_string()
}

/// Replaces the configuration and waits until it is in place.
async fn applied(plugway: &Plugway, configuration: &str) -> Result<()> {
    let count = || {
        let lines = plugway.stderr();
        lines.iter().filter(|line| line.contains("configuration applied")).count()
    };
    let before = count();
    plugway.reconfigure(configuration)?;
    wait::until(
        "the configuration is applied",
        BOUND,
        async || Ok((count() > before).then_some(())),
    )
    .await
}

#[tokio::test]
async fn a_changed_list_refuses_the_next_call() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(configuration(&clock, &json!({}))).await?;
    let client = plugway.legacy().await?;
    let hi = json!({"message": "hi"});
    let lists =
        async |tool: &str| anyhow::Ok(client.tool_names().await?.contains(&tool.to_owned()));
    ensure!(lists("clock_echo").await?);
    ensure!(!call(&client, "clock_echo", hi.clone()).await?.1);

    applied(&plugway, &configuration(&clock, &json!({"blocked_tools": ["echo"]}))).await?;
    is_blocked(&client, "clock_echo", hi.clone()).await?;
    ensure!(!lists("clock_echo").await?);

    applied(&plugway, &configuration(&clock, &json!({"blocked_tools": ["now"]}))).await?;
    ensure!(!call(&client, "clock_echo", hi).await?.1);
    ensure!(lists("clock_echo").await? && !lists("clock_now").await?);
    is_blocked(&client, "clock_now", json!({})).await?;
    Ok(())
}

#[tokio::test]
async fn a_configuration_that_is_wrong_leaves_the_one_before_it() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let lists = json!({"blocked_tools": ["echo"]});
    let plugway = Plugway::start(configuration(&clock, &lists)).await?;
    let client = plugway.legacy().await?;
    for (wrong, says) in [
        (json!({"blocked_tool": ["now"]}), "blocked_tool"),
        (json!({"limits": [{"calls_per_minute": 0}]}), "limits[0].calls_per_minute"),
    ] {
        plugway.reconfigure(&configuration(&clock, &wrong))?;
        plugway.logged(says, BOUND).await?;
        is_blocked(&client, "clock_echo", json!({})).await?;
        ensure!(!call(&client, "clock_now", json!({})).await?.1);
    }
    Ok(())
}
