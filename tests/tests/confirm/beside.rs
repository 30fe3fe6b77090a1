//! What stands beside names and arguments, and what is asked where nobody can be.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Hub, Pipe, Recorder, audit};
use serde_json::{Value, json};

use super::{
    again, asked, careful, confirming, ensure_refused, look, modern, required, text_of, yes,
};

#[tokio::test]
async fn what_a_client_says_in_meta_is_shown_and_cannot_be_changed_after_the_yes() -> Result<()> {
    let upstream = Recorder::start().await?;
    let mut pipe = Pipe::of(careful(&upstream).setup()?, &[])?;
    let call = |dry: bool, token: u32| {
        let mut call = look(&json!({}));
        call["_meta"] = json!({
            "io.modelcontextprotocol/clientCapabilities": asked(),
            "acme/dryRun": dry,
            "progressToken": token,
        });
        call
    };
    for (dry, is_called) in [(false, false), (true, true)] {
        let response = pipe.call_modern("tools/call", call(true, 1)).await?;
        let question = &response["result"]["inputRequests"]["confirmation"]["params"]["message"];
        let text = question.as_str().context("no message")?;
        ensure!(text.contains("\"acme/dryRun\": true"), "{text}");
        ensure!(!text.contains("progressToken"), "{text}");
        let state = response["result"]["requestState"].clone();
        let params = again(&call(dry, 2), &state, &yes());
        let response = pipe.call_modern("tools/call", params).await?;
        if is_called {
            ensure!(text_of(&response)? == "seen", "{response}");
        } else {
            ensure_refused(&response, "not what was confirmed")?;
        }
        ensure!(upstream.calls().len() == usize::from(is_called));
    }
    Ok(())
}

#[tokio::test]
async fn a_long_uri_is_told_from_another_and_the_log_has_its_digest() -> Result<()> {
    let server = DemoHttp::start_fixture(&[]).await?;
    let hub = Hub::new("hub").upstream("up", server.url()).policy(confirming(json!({})));
    let plugway = hub.start().await?;
    let client = modern(&plugway);
    let mut digests = Vec::new();
    for end in ["1", "2"] {
        let uri = format!("test://template/{}{end}/data", "a".repeat(300));
        let (question, _) = required(&client.call("resources/read", json!({"uri": uri})).await?)?;
        let text = question["message"].as_str().context("no message")?;
        let line = text.lines().find(|line| line.starts_with("resource: ")).context("no line")?;
        let (_, digest) = line.rsplit_once(' ').context("no digest")?;
        ensure!(line.contains("SHA-256 begins with") && digest.len() == 32, "{line}");
        plugway.logged(&format!("\"digest\":\"{digest}\""), super::BOUND).await?;
        digests.push(digest.to_owned());
    }
    ensure!(digests[0] != digests[1]);
    Ok(())
}

#[tokio::test]
async fn a_call_in_a_batch_is_refused_before_anybody_is_asked() -> Result<()> {
    let upstream = Recorder::start().await?;
    let mut pipe = Pipe::of(careful(&upstream).setup()?, &[])?;
    pipe.initialize_with("2025-03-26", asked()).await?;
    let call =
        json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": look(&json!({}))});
    pipe.send(&json!([call, {"jsonrpc": "2.0", "id": "b", "method": "ping"}])).await?;
    let answers = pipe.read().await?.context("the output ended")?;
    let of = |id: &str| {
        let mut all = answers.as_array().into_iter().flatten();
        all.find(|one| one["id"] == id).cloned().unwrap_or(Value::Null)
    };
    ensure_refused(&of("a"), "JSON-RPC batch")?;
    ensure!(of("b")["result"] == json!({}), "{answers}");
    ensure!(upstream.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn an_audit_has_a_keyed_digest_of_what_was_asked_and_no_other() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).top("audit", json!({"file": audit::FILE})).start().await?;
    // Too long to be shown: the question has a digest.
    let call = look(&json!({"text": "a".repeat(5000)}));
    let reply = modern(&plugway).call("tools/call", call).await?;
    let (question, _) = required(&reply)?;
    ensure!(question["message"].as_str().unwrap_or_default().contains("SHA-256"), "{question}");
    let lines = audit::until(&plugway, "confirmation", 1).await?;
    let line = lines.first().context("no line")?;
    ensure!(line["result"] == "asked" && line["digest"].is_null(), "{line}");
    let calls = audit::until(&plugway, "call", 1).await?;
    let call = calls.first().context("no call")?;
    ensure!(call["request_id"] == line["request_id"], "{call}");
    ensure!(call["arguments_digest"].as_str().is_some_and(|digest| digest.len() == 64), "{call}");
    Ok(())
}
