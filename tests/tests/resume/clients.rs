//! The official clients, whose connection is lost after each event.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use anyhow::{Result, ensure};
use plugway_tests::{
    Scripted,
    cutter::{Cut, Cutter},
    peers::Peers,
};
use serde_json::{Value, json};

use super::hub;

const STEPS: u64 = 3;

/// Every step once, in order, and the result; each came on a connection of its own.
fn ensure_whole(cutter: &Cutter, upstream: &Scripted, printed: &Value) -> Result<()> {
    let steps = printed["progress"].as_array().map(Vec::as_slice).unwrap_or_default();
    let steps: Vec<Option<f64>> = steps.iter().map(Value::as_f64).collect();
    ensure!(steps == [1.0, 2.0, 3.0].map(Some), "{printed}");
    ensure!(printed["result"]["content"][0]["text"] == "done", "{printed}");
    ensure!(cutter.cuts() > STEPS, "{} connections were lost", cutter.cuts());
    ensure!(upstream.calls() == 1 && upstream.cancelled().is_empty(), "the tool ran twice");
    Ok(())
}

#[tokio::test]
async fn peer_client_sdk_comes_back_after_each_event() -> Result<()> {
    let peers = Peers::find()?;
    for cut in [Cut::Ended, Cut::Broken] {
        let upstream = Scripted::start().await?;
        let plugway = hub(&upstream).await?;
        let cutter = Cutter::start(plugway.address(), cut).await?;
        upstream.release();
        let arguments = json!({"steps": STEPS}).to_string();
        let printed = peers.resuming_sdk(&cutter.mcp_url(), "up_steps", &arguments).await?;
        ensure_whole(&cutter, &upstream, &printed)?;
    }
    Ok(())
}

/// Streams end as if by the server: this client forgets how far it had read a stream that it resumed and that breaks.
#[tokio::test]
async fn peer_client_mcp_comes_back_after_each_event() -> Result<()> {
    let (peers, upstream) = (Peers::find()?, Scripted::start().await?);
    let plugway = hub(&upstream).await?;
    let cutter = Cutter::start(plugway.address(), Cut::Ended).await?;
    upstream.release();
    let arguments = json!({"steps": STEPS}).to_string();
    let printed = peers.resuming_mcp(&cutter.mcp_url(), "up_steps", &arguments).await?;
    ensure_whole(&cutter, &upstream, &printed)
}
