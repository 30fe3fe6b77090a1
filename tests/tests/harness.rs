//! The harness itself, tried on the demo servers without plugway between.

use std::time::Duration;

use anyhow::{Context as _, Result};
use plugway_tests::{DemoHttp, http, process, rpc::Client};
use serde_json::json;

#[tokio::test]
async fn a_legacy_client_keeps_its_session() -> Result<()> {
    let demo = DemoHttp::start(&["--tools", "5", "--page-size", "3"]).await?;
    let (one, other) = (
        Client::legacy(demo.address(), "/mcp").await?,
        Client::legacy(demo.address(), "/mcp").await?,
    );
    assert_eq!(one.tool_names().await?.len(), 9);
    assert_eq!(one.call_text("count", json!({})).await?, "1");
    assert_eq!(one.call_text("count", json!({})).await?, "2");
    assert_eq!(other.call_text("count", json!({})).await?, "1");
    assert_eq!((demo.count("initialize").await?, demo.count("tools/call").await?), (2, 3));
    assert_eq!(one.delete().await?, 202);
    assert_eq!(one.call("tools/list", json!({})).await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn a_modern_client_needs_no_session() -> Result<()> {
    let demo = DemoHttp::start(&["--name", "other"]).await?;
    let client = Client::modern(demo.address(), "/mcp");
    let discovered = client.call("server/discover", json!({})).await?;
    assert_eq!(discovered.result()?.get("resultType"), Some(&json!("complete")));
    assert_eq!(client.call_text("add", json!({"a": 2, "b": 40})).await?, "42");
    let unknown = client.call("no/such", json!({})).await?;
    assert_eq!((unknown.status, unknown.error_code()?), (404, -32601));
    assert_eq!(demo.count("initialize").await?, 0);
    Ok(())
}

#[tokio::test]
async fn exact_bytes_are_sent_and_the_answer_read() -> Result<()> {
    let demo = DemoHttp::start(&["--json"]).await?;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: 1\r\n\r\n{{",
        demo.address()
    );
    assert_eq!(http::exchange(demo.address(), request.as_bytes()).await?.status, 415);
    let garbage = http::exchange(demo.address(), b"what is this\r\n\r\n").await?;
    assert_eq!(garbage.status, 400);
    Ok(())
}

#[tokio::test]
async fn a_killed_demo_is_gone() -> Result<()> {
    let demo = DemoHttp::start(&[]).await?;
    let mine = process::children(std::process::id())?;
    let pid = *mine.first().context("the demo is no child of this test")?;
    assert!(process::resident_bytes(pid)? > 0);
    demo.kill().await?;
    process::until_gone(&mine, Duration::from_secs(5)).await
}
