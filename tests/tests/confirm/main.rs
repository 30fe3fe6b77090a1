//! Calls that policies want the person at the client to confirm (docs/confirmation.md).

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Guest, Hub, Plugway, Recorder,
    rpc::{Client, Events, Reply},
    wait,
};
use serde_json::{Value, json};

mod beside;
mod bounds;
mod changes;
mod gateway;
mod legacy;
mod modern;
mod peers;
mod servers;

const BOUND: Duration = Duration::from_secs(20);

/// What a client declares that answers questions.
fn asked() -> Value {
    json!({"elicitation": {}})
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirmed": true}})
}

/// A hub before a recorder called `up`, whose calls have to be confirmed.
fn careful(upstream: &Recorder) -> Hub {
    Hub::new("hub").upstream("up", &upstream.url()).policy(confirming(json!({})))
}

fn confirming(config: Value) -> Guest {
    Guest::new("confirming").config(config)
}

fn look(arguments: &Value) -> Value {
    json!({"name": "up_look", "arguments": arguments})
}

async fn session(plugway: &Plugway) -> Result<Client> {
    Client::legacy_with(plugway.address(), "/mcp", asked()).await
}

fn modern(plugway: &Plugway) -> Client {
    Client::modern_with(plugway.address(), "/mcp", asked())
}

async fn next(events: &mut Events) -> Result<Value> {
    events.next(BOUND).await?.context("the stream ended")
}

/// The question on the stream of a call.
async fn question(events: &mut Events) -> Result<Value> {
    let asked = next(events).await?;
    ensure!(asked["method"] == "elicitation/create", "{asked}");
    Ok(asked)
}

/// The response of a call and the end of its stream.
async fn done(events: &mut Events) -> Result<Value> {
    let response = next(events).await?;
    ensure!(response["method"].is_null(), "no response: {response}");
    ensure!(events.next(BOUND).await?.is_none(), "something follows the response");
    Ok(response)
}

fn text_of(response: &Value) -> Result<&str> {
    let text = response.pointer("/result/content/0/text").and_then(Value::as_str);
    text.with_context(|| format!("no text in {response}"))
}

/// A tool result that says with these words why the tool did not run.
fn ensure_refused(response: &Value, words: &str) -> Result<()> {
    ensure!(response["result"]["isError"] == true, "{response}");
    let text = text_of(response)?;
    ensure!(text.starts_with("The call was not made: ") && text.ends_with('.'), "{text}");
    ensure!(text.contains(words), "{words}: {text}");
    Ok(())
}

/// What a client of the modern era is asked, and the state that it gives back.
fn required(reply: &Reply) -> Result<(Value, Value)> {
    let result = reply.result()?;
    ensure!(result["resultType"] == "input_required", "{reply:?}");
    let questions = result["inputRequests"].as_object().context("no questions")?;
    ensure!(questions.len() == 1, "{reply:?}");
    let question = questions.get("confirmation").context("another question")?;
    ensure!(question["method"] == "elicitation/create", "{reply:?}");
    Ok((question["params"].clone(), result["requestState"].clone()))
}

/// The same params with an answer to the confirmation.
fn again(params: &Value, state: &Value, answer: &Value) -> Value {
    let mut params = params.clone();
    params["inputResponses"] = json!({"confirmation": answer});
    params["requestState"] = state.clone();
    params
}

/// Replaces the configuration and waits until it is in place.
async fn reconfigure(plugway: &Plugway, hub: &Hub) -> Result<()> {
    let applied = |plugway: &Plugway| {
        plugway.stderr().iter().filter(|line| line.contains("configuration applied")).count()
    };
    let before = applied(plugway);
    plugway.reconfigure(&hub.configuration())?;
    wait::until("the configuration is applied", BOUND, async || {
        Ok((applied(plugway) > before).then_some(()))
    })
    .await
    .with_context(|| plugway.stderr().join("\n"))
}
