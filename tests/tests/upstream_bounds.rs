//! Answers of servers that are too large, or take too long although they come steadily: one sentence for the call, and the
//! session and the child go on.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Plugway, Scripted, binary, rpc::Client};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
/// Largest event of a stream and longest line of a child.
const EVENT: usize = 16 << 20;
/// Largest JSON answer.
const ANSWER: usize = 64 << 20;
/// How long a call may take here.
const CALL: Duration = Duration::from_secs(1);

/// `web` over HTTP and `kid` as a child, with these keys of their own.
async fn hub(web: &Scripted, keys: &str) -> Result<Plugway> {
    let rough = binary::find("rough-server")?;
    Plugway::start(format!(
        "name: hub\nupstreams:\n- {{name: web, url: '{}'{keys}}}\n- {{name: kid, command: '{}'{keys}}}\n",
        web.url(),
        rough.display()
    ))
    .await
}

/// The sentence of a call that failed.
fn sentence(result: &Value) -> Result<&str> {
    ensure!(result.get("isError") == Some(&json!(true)), "{:.300}", result.to_string());
    result.pointer("/content/0/text").and_then(Value::as_str).context("no sentence")
}

#[tokio::test]
async fn an_answer_over_http_that_is_too_large_is_one_sentence_and_the_session_goes_on()
-> Result<()> {
    let web = Scripted::start().await?;
    let plugway = hub(&web, "").await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        client.call_tool("web_json", json!({})).await?;
        let (opened, legacy) = (web.initializes(), client.session().is_some());
        for (form, bytes, limit) in [("events", EVENT, "16 MiB"), ("json", ANSWER, "64 MiB")] {
            let arguments = json!({"bytes": bytes, "form": form});
            let result = client.call_tool("web_big", arguments).await?;
            let said = sentence(&result).context(form)?;
            ensure!(said.contains("\"web\"") && said.contains(limit), "{form}: {said}");
        }
        ensure!(client.call_text("web_json", json!({})).await? == "json");
        ensure!(!legacy || web.initializes() == opened, "the session was opened again");
    }
    Ok(())
}

#[tokio::test]
async fn a_line_of_a_child_that_is_too_long_fails_its_call_and_the_child_lives_on() -> Result<()> {
    let web = Scripted::start().await?;
    let plugway = hub(&web, "").await?;
    let client = plugway.legacy().await?;
    let own = client.call_text("kid_process_id", json!({})).await?;
    let result = client.call_tool("kid_big", json!({"bytes": EVENT})).await?;
    let said = sentence(&result)?;
    ensure!(said.contains("\"kid\"") && said.contains("16 MiB"), "{said}");
    // Nobody waits for what a server tells by itself: the call that it told it in has its answer.
    let told = json!({"name": "kid_shout", "arguments": {"bytes": EVENT}});
    let reply = client.call("tools/call", told).await?;
    ensure!(reply.messages.len() == 1, "{} messages", reply.messages.len());
    let said = reply.result()?["content"][0]["text"].as_str().context("no text")?;
    ensure!(said.parse() == Ok(EVENT), "{said}");
    ensure!(client.call_text("kid_process_id", json!({})).await? == own, "the child was replaced");
    Ok(())
}

/// How often progress came before the end of the call, which must say that it took too long.
async fn ends_in_time(client: &Client, name: &str, form: &str) -> Result<usize> {
    let params = json!({
        "name": name, "arguments": {"form": form}, "_meta": {"progressToken": "drip"},
    });
    let begun = Instant::now();
    let reply = client.call("tools/call", params).await?;
    let took = begun.elapsed();
    let said = sentence(reply.result()?)?;
    ensure!(said.contains("did not answer within 1 s"), "{said}");
    ensure!(took >= CALL && took < BOUND, "{took:?}");
    Ok(reply.messages.len() - 1)
}

#[tokio::test]
async fn a_call_ends_in_its_time_however_steadily_something_comes() -> Result<()> {
    let web = Scripted::start().await?;
    let plugway = hub(&web, ", timeouts: {answer: 1s}").await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for name in ["web_drip", "kid_drip"] {
            let told = ends_in_time(&client, name, "events").await.context(name)?;
            ensure!(told > 1, "{name}: {told} messages are not steady");
        }
        ensure!(ends_in_time(&client, "web_drip", "json").await? == 0);
        ensure!(client.call_text("web_json", json!({})).await? == "json");
    }
    Ok(())
}
