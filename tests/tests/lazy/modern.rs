//! The modern era: nothing is kept, the list is the same for ever, and `call_tool` calls.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::tokens::{ANN, ANN_TOO, auth, identified};
use plugway_tests::{DemoHttp, Guest, rpc::Client};
use serde_json::{Value, json};

use super::{OWN, ask, lazy, load, names, refusal};

#[tokio::test]
async fn the_list_stays_and_what_is_loaded_is_called_through_call_tool() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = lazy(clock.url()).start().await?;
    let client = plugway.modern();
    ensure!(client.tool_names().await? == OWN);
    let loaded = load(&client, &["clock_add", "clock_echo"]).await?;
    ensure!(loaded["loaded"] == json!([]) && loaded.get("session_total").is_none(), "{loaded}");
    let item = &loaded["items"][0];
    ensure!(item["callable_as"] == "call_tool", "{item}");
    ensure!(item["input_schema"]["properties"]["a"].is_object(), "{item}");
    ensure!(client.tool_names().await? == OWN, "the list changed");
    let found = ask(&client, "find_tools", json!({"browse": true, "limit": 2})).await?;
    ensure!(names(&found)?.len() == 2 && found["next_cursor"].is_string(), "{found}");
    ensure!(found["items"][0].get("loaded").is_none(), "{found}");
    let gone = ask(&client, "unload_tools", json!({"all_items": true})).await?;
    ensure!(gone == json!({"unloaded": []}), "{gone}");

    let sentence = refusal(&client, "clock_add", json!({"a": 2, "b": 3})).await?;
    for part in ["load_tools", "call_tool", "clock_add"] {
        ensure!(sentence.contains(part), "{sentence}");
    }
    for named in [json!({"name": "clock_add"}), json!({"server": "clock", "tool": "add"})] {
        let mut arguments = named.clone();
        arguments["arguments"] = json!({"a": 2, "b": 40});
        let result = client.call_tool("call_tool", arguments).await?;
        ensure!(result["content"][0]["text"] == "42", "{named}: {result}");
        ensure!(result["resultType"] == "complete", "{result}");
    }
    Ok(())
}

#[tokio::test]
async fn each_caller_finds_loads_and_calls_what_it_may_see() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hides =
        Guest::new("visibility_by_scope").config(json!({"hide": ["clock_add"], "scope": "write"}));
    let hub = lazy(clock.url()).policy(hides).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    for (token, sees) in [(ANN, false), (ANN_TOO, true), (ANN, false)] {
        let client = Client::modern_as(plugway.address(), "/mcp", token);
        let found = ask(&client, "find_tools", json!({"browse": true})).await?;
        ensure!(names(&found)?.contains(&"clock_add") == sees, "{token}: {found}");
        let call = json!({"name": "clock_add", "arguments": {"a": 2, "b": 3}});
        if sees {
            ensure!(load(&client, &["clock_add"]).await?["items"][0]["name"] == "clock_add");
            ensure!(client.call_text("call_tool", call).await? == "5");
            continue;
        }
        // What is hidden cannot be told from what does not exist.
        for (tool, hidden) in [
            ("load_tools", json!({"items": ["clock_add"]})),
            ("call_tool", call),
            ("clock_add", json!({})),
        ] {
            let unknown: Value =
                serde_json::from_str(&hidden.to_string().replace("clock_add", "clock_sub"))?;
            let other = tool.replace("clock_add", "clock_sub");
            let (hidden, unknown) =
                (said(&client, tool, hidden).await?, said(&client, &other, unknown).await?);
            ensure!(hidden.replace("clock_add", "clock_sub") == unknown, "{hidden} but {unknown}");
        }
    }
    ensure!(clock.count("tools/call").await? == 1, "a hidden tool was called");
    Ok(())
}

/// The answer without what differs between any two calls.
async fn said(client: &Client, tool: &str, arguments: Value) -> Result<String> {
    let reply = client.call("tools/call", json!({"name": tool, "arguments": arguments})).await?;
    let mut response = reply.response()?.clone();
    let response = response.as_object_mut().context("no object")?;
    response.remove("id");
    if let Some(data) = response.get_mut("error").and_then(|error| error["data"].as_object_mut()) {
        data.remove("requestId");
    }
    Ok(json!(response).to_string())
}
