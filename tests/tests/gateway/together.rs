//! The gateway together with lazy discovery, batches and plugins that send requests themselves.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, Recorder, Scripted, http, rpc::Client};
use serde_json::{Value, json};

use super::{blocked, call, with};

#[tokio::test]
async fn where_tools_are_found_lazily_a_blocked_one_is_not_found_and_says_why() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url()).key("discovery", json!("lazy"));
    let plugway = with(hub, json!({"blocked_tools": ["echo"]})).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let (found, is_error) = call(&client, "find_tools", json!({"browse": true})).await?;
        ensure!(!is_error && found.contains("clock_now"), "{found}");
        ensure!(!found.contains("clock_echo"), "{found}");
        let through = json!({"name": "clock_echo", "arguments": {"message": "hi"}});
        let said = call(&client, "call_tool", through).await?;
        ensure!(said == blocked("clock_echo"), "{said:?}");
        let loaded = call(&client, "load_tools", json!({"items": ["clock_echo"]})).await?;
        ensure!(loaded.1, "{loaded:?}");
    }
    ensure!(clock.count("tools/call").await? == 0);
    Ok(())
}

#[tokio::test]
async fn a_call_through_another_tool_counts_once() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url()).key("discovery", json!("lazy"));
    let plugway = with(hub, json!({"max_calls_per_minute": 2})).start().await?;
    for (number, client) in (1..).zip([plugway.legacy().await?, plugway.modern()]) {
        let now = async || {
            let through = json!({"name": "clock_now", "arguments": {}});
            call(&client, "call_tool", through).await
        };
        ensure!(!now().await?.1 && !now().await?.1);
        let (text, is_error) = now().await?;
        ensure!(is_error && text.contains("maximum 2 calls per minute"), "{text}");
        ensure!(clock.count("tools/call").await? == 2 * number);
    }
    Ok(())
}

#[tokio::test]
async fn each_call_of_a_batch_counts() -> Result<()> {
    let server = Scripted::start().await?;
    let hub = Hub::new("hub").upstream("up", &server.url());
    let plugway = with(hub, json!({"max_calls_per_minute": 2})).start().await?;
    let client = Client::legacy_of(plugway.address(), "/mcp", "2025-03-26").await?;
    let session = client.session().context("no session")?;
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-03-26")];
    let part = |id: u64| {
        let params = json!({"name": "up_json", "arguments": {}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let batch: Vec<Value> = (1..=4).map(part).collect();
    let answer = http::post(plugway.address(), "/mcp", &headers, json!(batch).to_string()).await?;
    let answers = answer.json()?;
    let answers = answers.as_array().context("no array")?;
    ensure!(answers.len() == 4, "{answers:?}");
    let is_limited = |answer: &&Value| {
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        answer["result"]["isError"] == true && text.contains("maximum 2 calls per minute")
    };
    ensure!(answers.iter().filter(is_limited).count() == 2, "{answers:?}");
    ensure!(server.calls() == 2);
    Ok(())
}

#[tokio::test]
async fn what_a_plugin_sends_for_a_caller_is_judged_and_counted() -> Result<()> {
    let upstream = Recorder::start().await?;
    let hub = |config: Value| {
        let router = Guest::new("answer_upstreams").grants(json!({"upstreams": true}));
        with(Hub::new("hub").upstream("up", &upstream.url()).router(router), config)
    };
    let asks = json!({
        "upstream": "up", "method": "tools/call", "params": {"name": "look", "arguments": {}},
    });
    let plugway = hub(json!({"blocked_tools": ["look"]})).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let (text, is_error) = call(&client, "ask", asks.clone()).await?;
        ensure!(is_error && text.contains("Tool 'look' is blocked by gateway policy."), "{text}");
    }
    ensure!(upstream.calls().is_empty(), "a plugin called what is blocked");
    // The call of `ask` counts, and the one that it leads to.
    let plugway = hub(json!({"max_calls_per_minute": 3})).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let (text, is_error) = call(&client, "ask", asks.clone()).await?;
        ensure!(!is_error && text.contains("seen"), "{text}");
        let (text, is_error) = call(&client, "ask", asks.clone()).await?;
        ensure!(is_error && text.contains("maximum 3 calls per minute"), "{text}");
    }
    ensure!(upstream.calls().len() == 2);
    Ok(())
}
