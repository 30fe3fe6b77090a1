//! What plugins learn of callers, and what callers can do to plugins.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::tokens::{ANN, ANN_TOO, BOB, EVE, auth, identified};
use plugway_tests::{DemoHttp, Guest, Hub, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

#[tokio::test]
async fn plugins_see_who_calls_and_what_each_token_may() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let echo = Guest::new("imports_echo").config(json!({"scopes": ["read", "write"]}));
    let hub = Hub::before(clock.url()).policy(echo).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    let address = plugway.address();
    let mut ids = Vec::new();
    for (token, client, tenant, scopes) in [
        (ANN, "ann", Value::Null, json!({"read": true, "write": false})),
        (ANN_TOO, "ann", Value::Null, json!({"read": true, "write": true})),
        (BOB, "bob", json!("north"), json!({"read": false, "write": false})),
    ] {
        for caller in [
            Client::legacy_as(address, "/mcp", token).await?,
            Client::modern_as(address, "/mcp", token),
        ] {
            let result = caller.call_tool("clock_echo", json!({})).await?;
            let seen = &result["structuredContent"]["caller"];
            ensure!(seen["anonymous"] == false && seen["client"] == client, "{seen}");
            ensure!(seen["tenant"] == tenant && seen["scopes"] == scopes, "{seen}");
            ensure!(!result.to_string().contains(token), "a plugin sees a token");
            ids.push((client, seen["id"].as_str().context("no id")?.to_owned()));
        }
    }
    ids.dedup();
    ensure!(ids.len() == 2 && ids[0].1 != ids[1].1, "one id for each caller: {ids:?}");
    Ok(())
}

#[tokio::test]
async fn each_token_of_one_caller_has_its_own_view() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hides = Guest::new("visibility_by_scope")
        .config(json!({"hide": ["clock_count"], "scope": "write"}));
    let hub = Hub::before(clock.url()).policy(hides).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    let address = plugway.address();
    let mut session = Client::legacy_as(address, "/mcp", ANN).await?;
    for _ in 0..2 {
        for (token, sees) in [(ANN, false), (ANN_TOO, true), (BOB, false)] {
            let modern = Client::modern_as(address, "/mcp", token);
            let names = modern.tool_names().await?;
            ensure!(names.contains(&"clock_count".to_owned()) == sees, "{token}: {names:?}");
        }
        for (token, sees) in [(ANN_TOO, true), (ANN, false)] {
            session = session.with_token(Some(token));
            let names = session.tool_names().await?;
            ensure!(names.contains(&"clock_count".to_owned()) == sees, "{token}: {names:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn one_caller_with_many_sessions_cannot_put_a_policy_aside() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url()).policy(Guest::new("traps_on_argument")).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    let address = plugway.address();
    let call = async |client: &Client, boom: bool| -> Result<Value> {
        let params = json!({"name": "clock_echo", "arguments": {"message": "hi", "boom": boom}});
        Ok(client.call("tools/call", params).await?.response()?.clone())
    };
    // Two callers, many sessions and tokens: not enough, however often it fails.
    for token in [ANN, ANN_TOO, BOB, ANN, ANN_TOO, BOB] {
        for client in [
            Client::legacy_as(address, "/mcp", token).await?,
            Client::modern_as(address, "/mcp", token),
        ] {
            ensure!(call(&client, true).await?["error"].is_object());
        }
    }
    let (bob, eve) =
        (Client::legacy_as(address, "/mcp", BOB).await?, Client::modern_as(address, "/mcp", EVE));
    let answer = call(&bob, false).await?;
    ensure!(answer["result"].is_object(), "two callers put it aside: {answer}");
    // A third one sees it fail.
    ensure!(call(&eve, true).await?["error"].is_object());
    let answer = call(&bob, false).await?;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    ensure!(message.contains("put aside"), "{answer}");
    wait::until("the policy comes back", BOUND, async || {
        Ok(call(&bob, false).await?["result"].is_object().then_some(()))
    })
    .await
}
