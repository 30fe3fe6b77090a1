//! The stream of a call.

use anyhow::{Result, ensure};
use plugway_tests::{Scripted, http, wait};
use serde_json::json;

use super::{BOUND, ensure_whole, hub, last, rest, some, steps};
use plugway_tests::rpc::Client;

#[tokio::test]
async fn a_stream_cut_after_each_event_is_resumed_with_no_event_lost_or_doubled() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    // The first event carries no message; three steps follow, and the result.
    for read in 1..=4 {
        for ended_meanwhile in [false, true] {
            let mut stream = steps(&client, 3).await?;
            let mut events = some(&mut stream, read).await?;
            drop(stream);
            if ended_meanwhile {
                upstream.release();
                let flights = async || client.call("ping", json!({})).await.map(|_| Some(()));
                wait::until("others are served meanwhile", BOUND, flights).await?;
            }
            let before = last(&events)?.to_owned();
            let mut stream = client.resume(&before).await?;
            let first = some(&mut stream, 1).await?;
            ensure!(last(&first)? == before && first[0].message.is_none(), "{first:?}");
            if !ended_meanwhile {
                upstream.release();
            }
            events.extend(rest(&mut stream).await?);
            ensure_whole(&events, 3)?;
        }
    }
    ensure!(upstream.cancelled().is_empty(), "a lost connection cancels nothing");
    Ok(())
}

#[tokio::test]
async fn one_stream_may_be_cut_after_every_event() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let mut stream = steps(&client, 20).await?;
    let mut events = some(&mut stream, 1).await?;
    for _ in 0..20 {
        drop(stream);
        stream = client.resume(last(&events)?).await?;
        // An event without a message, and one with the next.
        events.extend(some(&mut stream, 2).await?);
    }
    // The id of the request is free once the client has the response.
    upstream.release();
    events.extend(rest(&mut stream).await?);
    ensure_whole(&events, 20)
}

#[tokio::test]
async fn who_resumes_takes_over() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let mut first = steps(&client, 2).await?;
    let begun = some(&mut first, 3).await?;
    let mut second = client.resume(last(&begun[..2])?).await?;
    ensure!(first.next_event(BOUND).await?.is_none(), "two streams at once");
    upstream.release();
    let mut events = begun[..2].to_vec();
    events.extend(rest(&mut second).await?);
    ensure_whole(&events, 2)
}

#[tokio::test]
async fn messages_of_a_call_come_on_its_stream_and_on_no_other() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let mut own = client.listen().await?;
    let (mut one, mut other) = (steps(&client, 2).await?, steps(&client, 3).await?);
    let events = some(&mut one, 2).await?;
    drop(one);
    let mut one = client.resume(last(&events)?).await?;
    upstream.release();
    upstream.release();
    ensure_whole(&rest(&mut other).await?, 3)?;
    let events = [events, rest(&mut one).await?].concat();
    ensure_whole(&events, 2)?;
    client.delete().await?;
    let stray = own.next(BOUND).await?;
    ensure!(stray.is_none(), "a message came on the session's stream: {stray:?}");
    Ok(())
}

#[tokio::test]
async fn only_clients_of_2025_11_25_get_an_event_without_data() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    for (revision, primed) in [("2025-03-26", false), ("2025-06-18", false), ("2025-11-25", true)] {
        let client = Client::legacy_of(plugway.address(), "/mcp", revision).await?;
        upstream.release();
        let mut events = rest(&mut steps(&client, 1).await?).await?;
        if primed {
            let first = events.remove(0);
            ensure!(first.message.is_none() && first.retry == Some(3_000), "{first:?}");
            ensure!(first.id.is_some(), "{first:?}");
        }
        ensure!(events.iter().all(|event| event.message.is_some() && event.retry.is_none()));
        ensure_whole(&events, 1)?;
        // The session's own stream begins alike.
        let mut own = client.listen().await?;
        if primed {
            let first = &some(&mut own, 1).await?[0];
            ensure!(first.message.is_none() && first.retry == Some(3_000), "{first:?}");
        }
        client.delete().await?;
        ensure!(own.next_event(BOUND).await?.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn a_call_whose_client_is_away_can_be_cancelled() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let params = json!({"name": "up_steps", "arguments": {"steps": 1}});
    let (id, request) = client.request("tools/call", params)?;
    drop(http::open(plugway.address(), request).await?);
    client.notify("notifications/cancelled", json!({"requestId": id})).await?;
    wait::until("the server is told", BOUND, async || {
        Ok((upstream.cancelled().len() == 1).then_some(()))
    })
    .await
}
