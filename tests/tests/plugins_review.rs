//! Reviewing: what a policy may do with an answer, in whatever form and size it comes.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Guest, Hub, Plugway, Recorder, rpc::Client};
use serde_json::{Value, json};

/// More than a review looks at.
const LARGE: u64 = 1_200_000;

/// The ways in which a server answers: as JSON of a told and of an untold length, and as an event stream.
fn forms() -> [(&'static str, Value); 3] {
    [("up_look", json!({})), ("up_look", json!({"chunked": true})), ("up_look_events", json!({}))]
}

fn with(mut arguments: Value, key: &str, value: Value) -> Value {
    arguments[key] = value;
    arguments
}

async fn hub(upstream: &Recorder, policies: Vec<Guest>) -> Result<Plugway> {
    let hub = Hub::new("hub").upstream("up", &upstream.url());
    policies.into_iter().fold(hub, Hub::policy).start().await
}

fn replace(config: Value) -> Guest {
    Guest::new("review_replace").config(config)
}

#[tokio::test]
async fn an_answer_is_replaced_in_every_form() -> Result<()> {
    let upstream = Recorder::start().await?;
    let guest = replace(json!({"from": "secret", "to": "******"}));
    let plugway = hub(&upstream, vec![guest]).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        for (tool, arguments) in forms() {
            let arguments = with(arguments, "text", json!("the secret word"));
            let text = client.call_text(tool, arguments.clone()).await?;
            ensure!(text == "the ****** word", "{tool} {arguments}: {text}");
            let untouched = with(arguments, "text", json!("nothing to hide"));
            ensure!(client.call_text(tool, untouched).await? == "nothing to hide");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_refused_answer_is_a_result_that_the_agent_reads_in_every_form() -> Result<()> {
    let upstream = Recorder::start().await?;
    let guest = replace(json!({"from": "-", "to": "-", "refuse": "secret"}));
    let plugway = hub(&upstream, vec![guest]).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        for (tool, arguments) in forms() {
            let arguments = with(arguments, "text", json!("a secret"));
            let result = client.call_tool(tool, arguments.clone()).await?;
            ensure!(result["isError"] == true, "{tool} {arguments}: {result}");
            let text = &result["content"][0]["text"];
            ensure!(text == "The answer holds what may not leave.", "{tool} {arguments}: {text}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn policies_review_in_reverse_order() -> Result<()> {
    let upstream = Recorder::start().await?;
    let last = replace(json!({"from": "two", "to": "three"}));
    let first = replace(json!({"from": "one", "to": "two"})).named("first");
    let plugway = hub(&upstream, vec![last, first]).await?;
    let text = plugway.legacy().await?.call_text("up_look", json!({"text": "one"})).await?;
    ensure!(text == "three", "{text}");
    Ok(())
}

#[tokio::test]
async fn outcome_tells_about_the_answer() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = hub(&upstream, vec![Guest::new("review_echo")]).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        for (tool, arguments) in forms() {
            let arguments = with(arguments, "text", json!("hello"));
            let result = client.call_tool(tool, arguments).await?;
            let seen = &result["structuredContent"];
            let mut body_json = json!({"content": [{"text": "hello", "type": "text"}]});
            if client.session().is_none() {
                // The upstream is of the legacy era: this is what a modern client requires besides.
                body_json["resultType"] = json!("complete");
            }
            let said = seen["body"].as_str().context("no body")?;
            let said_json: Value = serde_json::from_str(said)?;
            ensure!(said_json == body_json, "{tool}: {seen}");
            ensure!(seen["body_len"] == said.len() && seen["first_text"] == "hello", "{seen}");
            ensure!(seen["count"] == 1 && seen["is_error"] == false, "{seen}");
            ensure!(seen["failed"].is_null() && seen["dispatched"] == true, "{seen}");
            ensure!(seen["past_the_end"] == "", "{seen}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn outcome_knows_an_error_from_a_result() -> Result<()> {
    let upstream = Recorder::start().await?;
    let reject = Guest::new("admit_answer").config(json!({"text": "answered by a policy"}));
    let plugway = hub(&upstream, vec![Guest::new("review_echo"), reject]).await?;
    let result = plugway.legacy().await?.call_tool("up_look", json!({})).await?;
    let seen = &result["structuredContent"];
    ensure!(seen["worker"].is_null() && seen["first_text"] == "answered by a policy", "{seen}");
    Ok(())
}

async fn large(client: &Client, tool: &str, arguments: &Value) -> Result<Result<usize, i64>> {
    let arguments = with(arguments.clone(), "bytes", json!(LARGE));
    let params = json!({"name": tool, "arguments": arguments});
    let reply = client.call("tools/call", params).await?;
    let response = reply.response()?;
    if let Some(code) = response["error"]["code"].as_i64() {
        return Ok(Err(code));
    }
    let result = &response["result"];
    let text = result["content"][0]["text"].as_str().context("no text")?;
    if result["isError"] == true {
        ensure!(text.contains("1048576"), "the reason is not clear: {text}");
        return Ok(Err(0));
    }
    Ok(Ok(text.len()))
}

#[tokio::test]
async fn an_answer_too_large_for_review_is_refused_unless_the_operator_lets_it_pass() -> Result<()>
{
    let upstream = Recorder::start().await?;
    let guest = || replace(json!({"from": "secret", "to": "******"}));
    let deny = hub(&upstream, vec![guest()]).await?;
    let pass = hub(&upstream, vec![guest().passing()]).await?;
    let mixed = hub(&upstream, vec![guest(), guest().named("second").passing()]).await?;
    for (plugway, passes) in [(&deny, false), (&pass, true), (&mixed, false)] {
        let legacy = plugway.legacy().await?;
        for client in [&legacy, &plugway.modern()] {
            for (tool, arguments) in forms() {
                let answer = large(client, tool, &arguments).await?;
                let wanted = if passes { Ok(usize::try_from(LARGE)?) } else { Err(0) };
                ensure!(answer == wanted, "{tool} {arguments} passes={passes}: {answer:?}");
                let text =
                    client.call_text(tool, with(arguments, "text", json!("a secret"))).await?;
                ensure!(text == "a ******", "{tool}: {text}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn without_a_reviewer_large_answers_pass_as_they_are() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = hub(&upstream, Vec::new()).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        for (tool, arguments) in forms() {
            ensure!(
                large(client, tool, &arguments).await? == Ok(usize::try_from(LARGE)?),
                "{tool}"
            );
        }
    }
    Ok(())
}
