//! Readers that do not read.

use anyhow::{Result, ensure};
use http_body_util::BodyExt as _;
use plugway_tests::{Scripted, http as web, process, wait};
use serde_json::json;

use super::{BOUND, code, hub, last, some, steps};

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn heavy_a_slow_reader_loses_its_stream_and_holds_up_nobody() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let (slow, other) = (plugway.legacy().await?, plugway.legacy().await?);
    let before = process::resident_bytes(plugway.pid()?)?;
    let flood = |steps: u64, bytes: u64| {
        let arguments = json!({"steps": steps, "bytes": bytes});
        let meta = json!({"progressToken": 1});
        slow.request(
            "tools/call",
            json!({"name": "up_steps", "arguments": arguments, "_meta": meta}),
        )
    };
    // Far more than the system's buffers between the two hold, in large and in small events.
    let mut unread = Vec::new();
    for (steps, bytes) in [(2_048, 64 * 1024), (32_000, 1_024)] {
        unread.push(web::open(plugway.address(), flood(steps, bytes)?.1).await?);
    }
    wait::until("the server has said everything", 3 * BOUND, async || {
        ensure!(other.call_text("up_json", json!({})).await? == "json");
        ensure!(slow.call_text("up_json", json!({})).await? == "json");
        Ok((upstream.steps() == 34_048).then_some(()))
    })
    .await?;
    let grown = process::resident_bytes(plugway.pid()?)?.saturating_sub(before);
    ensure!(grown < 48 * MIB, "{} MiB more", grown / MIB);
    // What they had to read next is gone, and that is not passed over in silence.
    for response in unread {
        let body = wait::within("the rest", BOUND, response.into_body().collect()).await?;
        ensure!(body.is_err(), "the stream ended as if it were whole");
    }
    let refused = web::send(plugway.address(), slow.get(Some("1-1"))?).await?;
    ensure!(refused.status == 400 && code(&refused)? == "stream-unknown", "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn a_session_keeps_few_streams_and_the_others_go_on() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut stream = steps(&client, 1).await?;
        let events = some(&mut stream, 2).await?;
        open.push((stream, last(&events)?.to_owned()));
    }
    // The oldest are not kept, and are there as long as their connections are.
    let refused = web::send(plugway.address(), client.get(Some(&open[0].1))?).await?;
    ensure!(refused.status == 400 && code(&refused)? == "stream-unknown", "{refused:?}");
    for _ in 0..20 {
        upstream.release();
    }
    for (mut stream, _) in open {
        ensure!(some(&mut stream, 1).await?[0].message.is_some());
        ensure!(stream.next_event(BOUND).await?.is_none());
    }
    Ok(())
}
