//! The official client answers as a person would.

use anyhow::{Result, ensure};
use plugway_tests::{Recorder, peers::Peers};
use serde_json::json;

use super::careful;

#[tokio::test]
async fn peer_the_official_client_confirms_and_declines_in_both_eras() -> Result<()> {
    let peers = Peers::find()?;
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    let mut calls = 0;
    for mode in ["legacy", "2026-07-28"] {
        for (answer, words) in
            [("yes", "seen"), ("no", "declined"), ("decline", "declined"), ("cancel", "dismissed")]
        {
            let call = r#"up_look={"n":[1]}"#;
            let seen = peers.confirming_mcp(&plugway.mcp_url(), mode, answer, call).await?;
            let text = seen["result"]["content"][0]["text"].as_str().unwrap_or_default();
            ensure!(text.contains(words), "{mode} {answer}: {seen}");
            ensure!((seen["result"]["isError"] == json!(true)) == (answer != "yes"), "{seen}");
            let asked = seen["asked"].as_array().map_or(0, Vec::len);
            ensure!(asked == 1, "{mode} {answer}: {seen}");
            let message = seen["asked"][0].as_str().unwrap_or_default();
            ensure!(message.contains("\"n\": [") && message.contains("up_look"), "{message}");
            calls += usize::from(answer == "yes");
            ensure!(upstream.calls().len() == calls, "{mode} {answer}");
        }
        // A client that declares nothing.
        let seen = peers.confirming_mcp(&plugway.mcp_url(), mode, "none", "up_look={}").await?;
        let refused = seen["error"] == json!(-32021) || seen["result"]["isError"] == json!(true);
        ensure!(refused && (mode == "legacy") == seen["error"].is_null(), "{mode}: {seen}");
        ensure!(upstream.calls().len() == calls);
    }
    Ok(())
}
