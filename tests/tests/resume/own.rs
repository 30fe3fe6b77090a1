//! The stream of a session.

use anyhow::{Result, ensure};
use plugway_tests::{
    Plugway, binary,
    rpc::{Client, Event},
};
use serde_json::{Value, json};

use super::{BOUND, last, some};

/// A client that hears of updates, which belong to no call.
async fn subscribed() -> Result<(Plugway, Client)> {
    let rough = binary::find("rough-server")?;
    let configuration = json!({"name": "hub", "upstreams": [{"name": "up", "command": rough}]});
    let plugway = Plugway::start(configuration.to_string()).await?;
    let client = plugway.legacy().await?;
    client.call("resources/subscribe", json!({"uri": "rough://numbers"})).await?.result()?;
    Ok((plugway, client))
}

fn numbers(events: &[Event]) -> Vec<u64> {
    let number = |event: &Event| event.message.as_ref()?.pointer("/params/number")?.as_u64();
    events.iter().filter_map(number).collect()
}

#[tokio::test]
async fn what_a_lost_connection_was_sent_is_sent_again() -> Result<()> {
    let (_plugway, client) = subscribed().await?;
    let tell = async |count: u64| {
        ensure!(client.call_text("up_tell", json!({"count": count})).await? == count.to_string());
        Ok(())
    };
    // What was told before anybody listened comes first, then what is told now.
    tell(2).await?;
    let mut stream = client.listen().await?;
    let mut events = some(&mut stream, 3).await?;
    ensure!(numbers(&events) == [1, 2], "{events:?}");
    tell(3).await?;
    events.extend(some(&mut stream, 3).await?);
    ensure!(numbers(&events) == [1, 2, 1, 2, 3], "{events:?}");
    // Wherever it was cut: what came after comes again, with the ids that it had.
    for read in 1..events.len() {
        let mut again = client.resume(last(&events[..read])?).await?;
        ensure!(stream.next_event(BOUND).await?.is_none(), "two streams at once");
        let resumed = some(&mut again, events.len() - read + 1).await?;
        ensure!(resumed[1..] == events[read..], "{resumed:?}");
        stream = again;
    }
    // And it goes on with what nobody was sent yet; a stream that resumes nothing begins there.
    drop(stream);
    tell(1).await?;
    let mut stream = client.resume(last(&events)?).await?;
    ensure!(numbers(&some(&mut stream, 2).await?) == [1]);
    drop(stream);
    let mut fresh = client.listen().await?;
    tell(1).await?;
    ensure!(numbers(&some(&mut fresh, 2).await?) == [1]);
    Ok(())
}

#[tokio::test]
async fn a_session_that_was_away_for_too_long_is_told_so() -> Result<()> {
    let (_plugway, client) = subscribed().await?;
    let mut stream = client.listen().await?;
    let first = some(&mut stream, 1).await?;
    // More than are kept, in portions that fit into the queue.
    for _ in 0..6 {
        client.call_text("up_tell", json!({"count": 50})).await?;
        some(&mut stream, 50).await?;
    }
    let mut again = client.resume(last(&first)?).await?;
    let events = some(&mut again, 3).await?;
    let warning = events[1].message.clone().unwrap_or(Value::Null);
    ensure!(warning["params"]["level"] == "warning", "{events:?}");
    ensure!(warning["params"]["data"].as_str().is_some_and(|text| text.starts_with("44 messages")));
    ensure!(numbers(&events[2..]) == [45], "{events:?}");
    Ok(())
}
