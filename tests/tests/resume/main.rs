//! Streams that break off, and clients that come back for the rest.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway, Scripted,
    rpc::{Client, Event, Events},
};
use serde_json::{Value, json};

mod bounds;
mod calls;
mod clients;
mod own;
mod refused;

const BOUND: Duration = Duration::from_secs(20);

async fn hub(upstream: &Scripted) -> Result<Plugway> {
    Plugway::start(format!("name: hub\nupstreams: [{{name: up, url: '{}'}}]\n", upstream.url()))
        .await
}

/// Calls a tool that reports so many steps, and gives its result once it is released.
async fn steps(client: &Client, steps: u64) -> Result<Events> {
    let params = json!({
        "name": "up_steps", "arguments": {"steps": steps}, "_meta": {"progressToken": "a token"},
    });
    client.open("tools/call", params).await
}

/// So many events of a stream.
async fn some(stream: &mut Events, count: usize) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    for _ in 0..count {
        events.push(stream.next_event(BOUND).await?.context("the stream ended")?);
    }
    Ok(events)
}

/// Everything up to a stream's end.
async fn rest(stream: &mut Events) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    while let Some(event) = stream.next_event(BOUND).await? {
        events.push(event);
    }
    Ok(events)
}

/// The id of the last event.
fn last(events: &[Event]) -> Result<&str> {
    events.last().and_then(|event| event.id.as_deref()).context("an event without an id")
}

/// The step that an event reports; 0 for the result.
fn step(event: &Event) -> Option<u64> {
    let message = event.message.as_ref()?;
    match message.pointer("/params/progress") {
        Some(step) => step.as_u64(),
        None => message.pointer("/result/content/0/text").filter(|text| *text == "done").map(|_| 0),
    }
}

/// Steps 1 to `count`, then the result: each once, each with an id of its own.
fn ensure_whole(events: &[Event], count: u64) -> Result<()> {
    let messages: Vec<&Event> = events.iter().filter(|event| event.message.is_some()).collect();
    let seen: Vec<Option<u64>> = messages.iter().map(|event| step(event)).collect();
    let wanted: Vec<Option<u64>> = (1..=count).chain([0]).map(Some).collect();
    ensure!(seen == wanted, "{seen:?}: {events:?}");
    let ids: std::collections::BTreeSet<_> = messages.iter().map(|event| &event.id).collect();
    ensure!(ids.len() == messages.len() && !ids.contains(&None), "{events:?}");
    Ok(())
}

/// The code of the fault that an answer names.
fn code(answer: &plugway_tests::http::Answer) -> Result<String> {
    let code =
        answer.json()?.pointer("/error/data/code").and_then(Value::as_str).map(str::to_owned);
    code.with_context(|| answer.text())
}
