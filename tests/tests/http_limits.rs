//! More connections than there may be, and more than the system has files for.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Result, ensure};
use plugway_tests::{Plugway, Scripted, http, plugway::Setup, process, wait};
use serde_json::json;
use tokio::net::TcpStream;

const BOUND: Duration = Duration::from_secs(30);

/// Connections that never say anything.
async fn silent(address: SocketAddr, count: usize) -> Result<Vec<TcpStream>> {
    let mut streams = Vec::new();
    for _ in 0..count {
        streams.push(TcpStream::connect(address).await?);
    }
    Ok(streams)
}

async fn hub(upstream: &Scripted, limits: &str) -> Result<Plugway> {
    Setup::new(format!(
        "name: hub\nlimits: {{{limits}}}\nupstreams: [{{name: up, url: '{}'}}]\n",
        upstream.url()
    ))
    .start()
    .await
}

/// Asks until an answer comes: somebody before us may still hold the last place.
async fn answered(plugway: &Plugway) -> Result<()> {
    wait::until("a request is answered", BOUND, async || {
        Ok(plugway.get("/health").await.ok().filter(|answer| answer.status == 200))
    })
    .await?;
    ensure!(plugway.modern().call_text("up_json", json!({})).await? == "json");
    Ok(())
}

#[tokio::test]
async fn heavy_connections_beyond_the_limit_wait_and_end_nobody() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream, "max_connections: 16, header_timeout: 200ms").await?;
    let pid = plugway.pid()?;
    // Silent ones are let go after the header timeout, 16 at a time, so whoever speaks gets a turn.
    let crowd = silent(plugway.address(), 300).await?;
    answered(&plugway).await?;
    ensure!(process::is_alive(pid));
    drop(crowd);
    answered(&plugway).await
}

#[tokio::test]
async fn heavy_a_process_out_of_files_recovers_when_connections_close() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream, "header_timeout: 1h").await?;
    let client = plugway.legacy().await?;
    process::limit_open_files(plugway.pid()?, 64)?;
    // More than the files it has left, fewer than the system's queue holds.
    let crowd = silent(plugway.address(), 100).await?;
    plugway.logged("a connection could not be accepted", BOUND).await?;
    drop(crowd);
    answered(&plugway).await?;
    ensure!(client.call_text("up_json", json!({})).await? == "json");
    Ok(())
}

#[tokio::test]
async fn a_request_that_never_ends_is_let_go() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream, "header_timeout: 300ms, body_timeout: 300ms").await?;
    let host = plugway.address();
    let half = format!(
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\naccept: \
         application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n{{"
    );
    ensure!(http::exchange(host, half.as_bytes()).await?.status == 408);
    // Half a head is answered with nothing, or with an error; the connection ends.
    let head = http::exchange(host, b"POST /mcp HTTP/1.1\r\nhost: ").await;
    ensure!(head.as_ref().map_or(true, |answer| answer.status == 408), "{head:?}");
    answered(&plugway).await
}
