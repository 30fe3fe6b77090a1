//! `call_tool`: policies and servers see a call of the tool that it names.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::faulty::{self, Faulty, Raw};
use plugway_tests::{DemoHttp, Guest, Hub, Recorder, Scripted, wait};
use serde_json::{Value, json};

use super::{BOUND, lazy, refusal};

fn scripted(server: &Scripted) -> Hub {
    Hub::new("hub").upstream("s", &server.url()).key("discovery", json!("lazy"))
}

#[tokio::test]
async fn policies_judge_the_real_name_and_its_arguments() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let echo = Guest::new("imports_echo").config(json!({"pointers": ["/a"]}));
    let plugway = lazy(clock.url()).policy(echo).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let call = json!({"name": "clock_add", "arguments": {"a": 1.50}});
        let judged =
            client.call_tool("call_tool", call).await?["structuredContent"]["call"].clone();
        ensure!(judged["name"] == "clock_add" && judged["method"] == "tools/call", "{judged}");
        ensure!(judged["target"] == json!(["clock", "add"]), "{judged}");
        ensure!(judged["arguments_json"] == r#"{"a":1.5}"#, "{judged}");
        ensure!(judged["arguments"]["/a"] == "1.5", "{judged}");
    }
    let no = Guest::new("admit_reject").config(json!({"message": "Not today."}));
    let plugway = lazy(clock.url()).policy(no).start().await?;
    let call = json!({"name": "clock_add", "arguments": {}});
    ensure!(refusal(&plugway.modern(), "call_tool", call).await? == "Not today.");
    ensure!(clock.count("tools/call").await? == 0, "it was called");
    Ok(())
}

#[tokio::test]
async fn results_are_reviewed_and_what_is_unlisted_is_for_policies_to_refuse() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let replace = Guest::new("review_replace").config(json!({"from": "hello", "to": "goodbye"}));
    let unlists = Guest::new("visibility_by_scope").config(json!({"unlist": ["clock_add"]}));
    let plugway = lazy(clock.url()).policy(replace).policy(unlists).start().await?;
    let client = plugway.legacy().await?;
    let call = json!({"name": "clock_echo", "arguments": {"message": "hello"}});
    ensure!(client.call_text("call_tool", call).await? == "goodbye");
    ensure!(client.call_text("clock_add", json!({"a": 1, "b": 2})).await? == "3");
    refusal(&client, "load_tools", json!({"items": ["clock_add"]})).await?;
    Ok(())
}

#[tokio::test]
async fn progress_and_cancellation_are_those_of_the_real_call() -> Result<()> {
    let server = Scripted::start().await?;
    let plugway = scripted(&server).start().await?;
    let client = plugway.legacy().await?;
    let params = json!({
        "_meta": {"progressToken": "mine"}, "name": "call_tool",
        "arguments": {"name": "s_steps", "arguments": {"steps": 2, "bytes": 3}},
    });
    let mut events = client.open("tools/call", params.clone()).await?;
    for step in 1..=2 {
        let message = events.next(BOUND).await?.context("the stream ended")?;
        ensure!(message["method"] == "notifications/progress", "{message}");
        ensure!(message["params"]["progressToken"] == "mine", "{message}");
        ensure!(message["params"]["progress"] == step, "{message}");
    }
    server.release();
    let result = events.next(BOUND).await?.context("the stream ended")?;
    ensure!(result["result"]["content"][0]["text"] == "done", "{result}");

    let (id, mut events) = client.open_as("tools/call", params).await?;
    events.next(BOUND).await?.context("the stream ended")?;
    client.notify("notifications/cancelled", json!({"requestId": id})).await?;
    let told = async || Ok((server.cancelled().len() == 1).then_some(()));
    wait::until("the server is told", BOUND, told).await
}

#[tokio::test]
async fn a_modern_server_gets_the_name_and_the_headers_of_its_own_tool() -> Result<()> {
    let server = DemoHttp::start_fixture(&["--era", "modern"]).await?;
    let plugway = Hub::new("hub")
        .upstream("up", server.url())
        .key("discovery", json!("lazy"))
        .start()
        .await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for value in ["plain", "Hello, 世界"] {
            let inner = json!({"name": "up_test_custom_header", "arguments": {"value": value}});
            ensure!(client.call_text("call_tool", inner).await? == value);
        }
    }
    let recorder = Recorder::modern().await?;
    let plugway = Hub::new("hub")
        .upstream("up", &recorder.url())
        .key("discovery", json!("lazy"))
        .start()
        .await?;
    let client = plugway.modern();
    client.call_tool("call_tool", json!({"name": "up_look", "arguments": {"text": "x"}})).await?;
    let call = recorder.last()?;
    let sent: Value = serde_json::from_str(&call.text())?;
    ensure!(
        sent["params"]["name"] == "look" && sent["params"]["arguments"] == json!({"text": "x"}),
        "{sent}"
    );
    Ok(())
}

/// A server that makes a task of each call that asks for one.
fn tasks(message: &Value, _: u64) -> Option<Raw> {
    let task = json!({"taskId": "t1", "status": "working", "createdAt": "now", "ttl": 1});
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "tasks", "version": "0"},
            "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
        }),
        "tools/call" if message["params"]["name"] == "good" => json!({"task": task}),
        "tasks/get" if message["params"]["taskId"] == "t1" => task,
        _ => return None,
    };
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}

#[tokio::test]
async fn a_task_is_made_as_by_a_call_of_the_tool() -> Result<()> {
    let server = Faulty::start(tasks).await?;
    let plugway = Hub::new("hub")
        .upstream("one", &server.url())
        .key("discovery", json!("lazy"))
        .start()
        .await?;
    let client = plugway.legacy().await?;
    let params =
        json!({"name": "call_tool", "arguments": {"name": "one_good"}, "task": {"ttl": 60_000}});
    let made = client.call("tools/call", params).await?;
    let id = made.result()?["task"]["taskId"].clone();
    ensure!(id.is_string() && id != "t1", "{made:?}");
    let got = client.call("tasks/get", json!({"taskId": id})).await?;
    ensure!(got.result()?["status"] == "working", "{got:?}");
    Ok(())
}

#[tokio::test]
async fn what_call_tool_cannot_call_it_says() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = lazy(clock.url()).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for (arguments, says) in [
            (json!({}), "a tool is named by `name` alone, or by `server` and `tool`"),
            (json!({"name": "clock_add", "server": "clock"}), "a tool is named by"),
            (json!({"name": "clock_add", "args": {}}), "unknown field `args`"),
            (json!({"name": "clock_add", "arguments": [1]}), "`arguments` is no object"),
            (json!({"name": "call_tool", "arguments": {}}), "call_tool does not call itself"),
        ] {
            let sentence = refusal(&client, "call_tool", arguments).await?;
            ensure!(sentence.contains(says), "{sentence}");
        }
        for unknown in [json!({"name": "zzz"}), json!({"server": "clock", "tool": "zzz"})] {
            let reply = client
                .call("tools/call", json!({"name": "call_tool", "arguments": unknown}))
                .await?;
            ensure!(reply.error_code()? == -32602, "{reply:?}");
        }
        // Tools of plugway's own are called like any other.
        let inner = json!({"name": "find_tools", "arguments": {"query": "add"}});
        ensure!(client.call_text("call_tool", inner).await?.contains("clock_add"));
    }
    Ok(())
}

#[tokio::test]
async fn where_discovery_is_eager_nothing_of_it_is_there() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).key("discovery", json!("eager")).start().await?;
    let client = plugway.legacy().await?;
    let listed = client.tool_names().await?;
    ensure!(listed.contains(&"clock_add".to_owned()), "{listed:?}");
    ensure!(
        !listed.iter().any(|name| name.ends_with("_tools") || name == "call_tool"),
        "{listed:?}"
    );
    let reply = client.call("tools/call", json!({"name": "call_tool", "arguments": {}})).await?;
    ensure!(reply.error_code()? == -32602, "{reply:?}");
    Ok(())
}
