//! Lists that change in the middle of a session.

use anyhow::{Context as _, Result, bail, ensure};
use plugway_tests::notices::Notices;
use plugway_tests::rpc::{Client, Events};
use plugway_tests::tokens::{ANN, BOB, auth, identified};
use plugway_tests::{DemoHttp, Hub, Plugway, wait};
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

/// Each method that a stream tells, until one tells this.
async fn until(events: &mut Events, method: &str) -> Result<Vec<String>> {
    let mut told = Vec::new();
    while told.last().is_none_or(|last| last != method) {
        let message = events.next(BOUND).await?.context("the stream ended")?;
        told.push(message["method"].as_str().unwrap_or_default().to_owned());
    }
    Ok(told)
}

#[tokio::test]
async fn whose_lists_other_rules_change_is_told_and_nobody_else() -> Result<()> {
    const CHANGED: &str = "notifications/tools/list_changed";
    let clock = DemoHttp::start(&[]).await?;
    let hub = |tools: &[&str], config: Value| {
        let others = json!({"when": {"not": {"scope": "read"}, "tool": tools}, "do": "deny"});
        let mut config = config;
        config["rules"] = json!([others]);
        super::with(Hub::before(clock.url()), config).top("auth", auth())
    };
    let first = hub(&["add"], json!({}));
    let plugway = identified(first.setup()?, &json!({})).start().await?;
    let (address, wishes) = (plugway.address(), json!({"toolsListChanged": true}));
    let mut told = Vec::new();
    for token in [ANN, BOB] {
        let legacy = Client::legacy_as(address, "/mcp", token).await?;
        let notices = Notices::of(&legacy).await?;
        let modern = Client::modern_as(address, "/mcp", token);
        let params = json!({"notifications": wishes});
        let mut events = modern.open("subscriptions/listen", params).await?;
        until(&mut events, "notifications/subscriptions/acknowledged").await?;
        for client in [&legacy, &modern] {
            let tools = client.tool_names().await?;
            ensure!(tools.contains(&"clock_add".to_owned()) == (token == ANN), "{tools:?}");
        }
        told.push((legacy, notices, events));
    }
    let [(_ann, of_ann, on_ann), (bob, of_bob, on_bob)] = &mut *told else { bail!("two callers") };
    // The lists of nobody change by a limit; those of bob by the second; those of both by the third.
    let limited = json!({"max_calls_per_minute": 60});
    applied(&plugway, &hub(&["add"], limited.clone()).configuration()).await?;
    applied(&plugway, &hub(&["add", "echo"], limited).configuration()).await?;
    of_bob.until_changed("tools", 1, BOUND).await?;
    ensure!(until(on_bob, CHANGED).await? == [CHANGED]);
    let tools = bob.tool_names().await?;
    ensure!(!tools.contains(&"clock_echo".to_owned()), "{tools:?}");
    let all = hub(&["add", "echo"], json!({"blocked_tools": ["now"]}));
    applied(&plugway, &all.configuration()).await?;
    for (notices, count) in [(&of_ann, 1), (&of_bob, 2)] {
        notices.until_changed("tools", count, BOUND).await?;
        ensure!(notices.changes("tools") == count, "{:?}", notices.all());
        ensure!(notices.changes("resources") + notices.changes("prompts") == 0);
    }
    for events in [on_ann, on_bob] {
        ensure!(until(events, CHANGED).await? == [CHANGED]);
    }
    ensure!(of_ann.messages().is_empty(), "no server came or went: {:?}", of_ann.messages());
    Ok(())
}
