//! A policy that fails for several callers is put aside, and nothing passes it meanwhile.

use std::time::Duration;

use anyhow::{Result, ensure};
use plugway_tests::tokens::{ANN, BOB, EVE, ROOT, auth, identified};
use plugway_tests::{DemoHttp, Guest, Hub, Plugway, metrics, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(10);

async fn call(client: &Client, arguments: Value) -> Result<Value> {
    let params = json!({"name": "clock_echo", "arguments": arguments});
    Ok(client.call("tools/call", params).await?.response()?.clone())
}

/// Three callers; two failures of each are more than a plugin may have.
async fn callers(plugway: &Plugway) -> Result<[Client; 3]> {
    Ok([caller(plugway, ANN).await?, caller(plugway, BOB).await?, caller(plugway, EVE).await?])
}

async fn caller(plugway: &Plugway, token: &str) -> Result<Client> {
    Client::legacy_as(plugway.address(), "/mcp", token).await
}

async fn start(hub: Hub) -> Result<Plugway> {
    identified(hub.top("auth", auth()).setup()?, &json!({})).start().await
}

#[tokio::test]
async fn a_policy_put_aside_denies_even_where_its_failures_pass() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = start(Hub::before(clock.url()).policy(Guest::new("panics").passing())).await?;
    let clients = callers(&plugway).await?;
    for client in clients.iter().chain(&clients) {
        let answer = call(client, json!({"message": "hi"})).await?;
        ensure!(answer["result"]["content"][0]["text"] == "hi", "its failures pass: {answer}");
    }
    let reached = clock.count("tools/call").await?;
    let fourth = caller(&plugway, ROOT).await?;
    let modern = Client::modern_as(plugway.address(), "/mcp", ANN);
    for client in clients.iter().chain([&fourth, &modern]) {
        let answer = call(client, json!({"message": "hi"})).await?;
        ensure!(answer["error"]["code"] == -32603, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        ensure!(message.contains("put aside"), "{message}");
    }
    ensure!(clock.count("tools/call").await? == reached, "a call passed a policy put aside");
    let line = plugway.logged("put aside", BOUND).await?;
    ensure!(line.contains("panics"), "{line}");
    let labels = [("plugin", "panics"), ("class", "aside")];
    ensure!(metrics::sum(&plugway, metrics::ERRORS, &labels).await? >= 5.0);
    Ok(())
}

#[tokio::test]
async fn a_policy_comes_back_when_it_decides_again() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = start(Hub::before(clock.url()).policy(Guest::new("traps_on_argument"))).await?;
    let clients = callers(&plugway).await?;
    for client in clients.iter().chain(&clients) {
        let answer = call(client, json!({"message": "hi", "boom": true})).await?;
        ensure!(answer["error"].is_object(), "{answer}");
    }
    let [ann, bob, _] = &clients;
    let answer = call(ann, json!({"message": "hi"})).await?;
    ensure!(answer["error"]["code"] == -32603, "it is not put aside: {answer}");
    wait::until("the policy is tried and comes back", BOUND, async || {
        let answer = call(ann, json!({"message": "hi"})).await?;
        Ok(answer["result"].is_object().then_some(()))
    })
    .await?;
    let answer = call(bob, json!({"message": "all is well"})).await?;
    ensure!(answer["result"]["content"][0]["text"] == "all is well", "{answer}");
    plugway.logged("the plugin is back", BOUND).await?;
    Ok(())
}

#[tokio::test]
async fn sessions_of_nobody_in_particular_are_one_caller() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(Guest::new("traps_on_argument")).start().await?;
    for _ in 0..4 {
        for client in [plugway.legacy().await?, plugway.modern()] {
            for _ in 0..2 {
                let answer = call(&client, json!({"message": "hi", "boom": true})).await?;
                ensure!(answer["error"]["code"] == -32603, "{answer}");
            }
        }
    }
    for client in [plugway.legacy().await?, plugway.modern()] {
        let answer = call(&client, json!({"message": "still here"})).await?;
        ensure!(answer["result"]["content"][0]["text"] == "still here", "{answer}");
    }
    Ok(())
}
