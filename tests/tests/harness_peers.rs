//! The real peers themselves, without plugway between: what fails here is not plugway's fault.

use anyhow::Result;
use plugway_tests::{DemoHttp, peers::Peers};
use serde_json::{Value, json};

#[tokio::test]
async fn peer_clients_call_the_demo_in_both_eras() -> Result<()> {
    let (peers, demo) = (Peers::find()?, DemoHttp::start(&[]).await?);
    let sum = |answer: &Value| answer.pointer("/results/0/content/0/text").cloned();
    for (mode, protocol) in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")] {
        let answer = peers.mcp(demo.url(), mode, &[r#"add={"a":2,"b":3}"#]).await?;
        assert_eq!(
            (answer.get("protocol"), sum(&answer)),
            (Some(&json!(protocol)), Some(json!("5")))
        );
        let answer = peers.fastmcp(demo.url(), mode, &[r#"add={"a":2,"b":4}"#]).await?;
        assert_eq!(sum(&answer), Some(json!("6")));
    }
    for era in ["legacy", "modern"] {
        let words = ["--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=2", "b=5"];
        let answer = peers.inspector(demo.url(), era, &words).await?;
        assert_eq!(answer.pointer("/content/0/text"), Some(&json!("7")));
    }
    Ok(())
}

#[tokio::test]
async fn peer_servers_answer_the_official_client() -> Result<()> {
    let peers = Peers::find()?;
    let everything = peers.everything().await?;
    let answer = peers.mcp(everything.url(), "auto", &[r#"echo={"message":"hi"}"#]).await?;
    assert_eq!(answer.pointer("/results/0/content/0/text"), Some(&json!("Echo: hi")));
    let fastmcp = peers.fastmcp_server().await?;
    let answer = peers.mcp(fastmcp.url(), "auto", &[r#"multiply={"a":6,"b":7}"#]).await?;
    assert_eq!(answer.pointer("/results/0/content/0/text"), Some(&json!("42")));
    Ok(())
}
