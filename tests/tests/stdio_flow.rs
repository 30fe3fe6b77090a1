//! `plugway stdio`: many requests at once, cancellation, streams.

use anyhow::{Result, ensure};
use plugway_tests::{Pipe, Scripted, binary, pipe::text_of, wait};
use serde_json::{Value, json};
use std::time::Duration;

const BOUND: Duration = Duration::from_secs(20);
/// What `docs/stdio.md` promises.
const REQUESTS: usize = 64;

async fn scripted() -> Result<(Scripted, Pipe)> {
    let upstream = Scripted::start().await?;
    let pipe =
        Pipe::start(format!("name: hub\nupstreams: [{{name: web, url: '{}'}}]\n", upstream.url()))?;
    Ok((upstream, pipe))
}

fn rough() -> Result<Pipe> {
    let path = binary::find("rough-server")?;
    Pipe::start(format!("name: hub\nupstreams: [{{name: rough, command: '{}'}}]\n", path.display()))
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

#[tokio::test]
async fn answers_come_in_the_order_in_which_they_are_ready() -> Result<()> {
    let (upstream, mut pipe) = scripted().await?;
    pipe.initialize().await?;
    let slow = pipe.ask("tools/call", call("web_steps", &json!({}))).await?;
    ensure!(pipe.tool("web_json", json!({})).await? == "json");
    upstream.release();
    ensure!(text_of(&pipe.response(&slow).await?)? == "done");
    // Two calls that wait for each other, so that both run at once.
    let one = pipe.ask("tools/call", call("web_pair", &json!({"word": "one"}))).await?;
    let other = pipe.ask("tools/call", call("web_pair", &json!({"word": "other"}))).await?;
    ensure!(text_of(&pipe.response(&other).await?)? == "other");
    ensure!(text_of(&pipe.response(&one).await?)? == "one");
    Ok(())
}

#[tokio::test]
async fn the_messages_of_a_stream_become_lines_and_the_response_is_the_last() -> Result<()> {
    let (upstream, mut pipe) = scripted().await?;
    pipe.initialize().await?;
    let mut params = call("web_steps", &json!({"steps": 3}));
    params["_meta"] = json!({"progressToken": "mine"});
    let id = pipe.ask("tools/call", params).await?;
    for step in 1..=3 {
        let note = pipe.read().await?.unwrap_or_default();
        ensure!(note["method"] == "notifications/progress", "{note}");
        ensure!(note["params"]["progress"] == step, "{note}");
        ensure!(note["params"]["progressToken"] == "mine", "{note}");
    }
    upstream.release();
    let last = pipe.read().await?.unwrap_or_default();
    ensure!(last["id"] == id && text_of(&last)? == "done", "{last}");
    Ok(())
}

#[tokio::test]
async fn a_request_over_the_bound_is_refused_and_a_cancellation_makes_room() -> Result<()> {
    let mut pipe = rough()?;
    pipe.initialize().await?;
    let mut hanging = Vec::new();
    for _ in 0..REQUESTS {
        hanging.push(pipe.ask("tools/call", call("rough_hang", &json!({}))).await?);
    }
    let refused = pipe.call("ping", json!({})).await?;
    ensure!(refused["error"]["data"]["code"] == "overloaded", "{refused}");
    let id = hanging.pop().unwrap_or_default();
    pipe.cancel(&id).await?;
    let mut answered = pipe.call("ping", json!({})).await?;
    let deadline = std::time::Instant::now() + BOUND;
    while answered.get("error").is_some() && std::time::Instant::now() < deadline {
        answered = pipe.call("ping", json!({})).await?;
    }
    ensure!(answered["result"] == json!({}), "{answered}");
    Ok(())
}

#[tokio::test]
async fn an_id_that_is_in_flight_is_refused() -> Result<()> {
    let (upstream, mut pipe) = scripted().await?;
    pipe.initialize().await?;
    let message = json!({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": call("web_steps", &json!({}))});
    pipe.send(&message).await?;
    pipe.send(&message).await?;
    let refused = pipe.response(&json!("same")).await?;
    ensure!(refused["error"]["data"]["code"] == "duplicate-id", "{refused}");
    upstream.release();
    ensure!(text_of(&pipe.response(&json!("same")).await?)? == "done");
    Ok(())
}

// PrefectHQ/fastmcp#4124, lynnswap/XcodeMCPKit#210: a cancellation goes out at once, to the server that has the request,
// with the id that this server knows.
#[tokio::test]
async fn a_cancellation_reaches_the_server_and_the_request_gets_no_answer() -> Result<()> {
    let (upstream, other) = (Scripted::start().await?, Scripted::start().await?);
    let mut pipe = Pipe::start(format!(
        "name: hub\nupstreams: [{{name: web, url: '{}'}}, {{name: other, url: '{}'}}]\n",
        upstream.url(),
        other.url()
    ))?;
    pipe.initialize().await?;
    let id = pipe.ask("tools/call", call("web_steps", &json!({}))).await?;
    wait::until("the server has the request", BOUND, async || {
        Ok((upstream.calls() == 1).then_some(()))
    })
    .await?;
    pipe.cancel(&id).await?;
    wait::until("the server was told", BOUND, async || {
        Ok((upstream.cancelled() == [id.clone()]).then_some(()))
    })
    .await?;
    upstream.release();
    ensure!(pipe.tool("web_json", json!({})).await? == "json");
    ensure!(pipe.others().iter().all(|message| message.get("id") != Some(&id)), "it was answered");
    ensure!(other.cancelled().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_child_is_told_of_a_cancellation_in_both_eras() -> Result<()> {
    for modern in [false, true] {
        let mut pipe = rough()?;
        let id = if modern {
            pipe.ask_modern("tools/call", call("rough_hang", &json!({}))).await?
        } else {
            pipe.initialize().await?;
            pipe.ask("tools/call", call("rough_hang", &json!({}))).await?
        };
        pipe.logged("a call hangs from now on").await?;
        pipe.cancel(&id).await?;
        pipe.logged("was given up").await?;
        let next = if modern {
            pipe.tool_modern("rough_chatter", json!({})).await?
        } else {
            pipe.tool("rough_chatter", json!({})).await?
        };
        ensure!(next == "quiet again");
        ensure!(pipe.others().is_empty(), "a request that was given up was answered");
        // The id is free again.
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        pipe.send(&message).await?;
        ensure!(pipe.response(&id).await?["result"] == json!({}));
    }
    Ok(())
}

#[tokio::test]
async fn a_request_that_is_given_up_before_it_runs_never_runs() -> Result<()> {
    let (upstream, mut pipe) = scripted().await?;
    pipe.initialize().await?;
    // Both in one write: the cancellation is there before anything of the request happened.
    let request = json!({"jsonrpc": "2.0", "id": 70, "method": "tools/call", "params": call("web_steps", &json!({}))});
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 70}});
    pipe.write(format!("{request}\n{cancel}\n").as_bytes()).await?;
    ensure!(pipe.tool("web_json", json!({})).await? == "json");
    ensure!(pipe.others().iter().all(|message| message["id"] != 70));
    // Nobody waits for it: the end is not held up.
    pipe.close_input();
    ensure!(pipe.ended().await?.success());
    let started = upstream.calls() - 1;
    ensure!(started == 0 || upstream.cancelled() == [json!(70)], "it runs on at the server");
    Ok(())
}
