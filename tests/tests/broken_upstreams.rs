//! Servers that answer wrongly hurt their own calls only, and are named.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Plugway,
    faulty::{Faulty, Handler, Raw, body},
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

fn is_call_of_bad(message: &Value) -> bool {
    message.pointer("/params/name").is_some_and(|name| name == "bad")
}

fn raw(message: &Value, text: &str) -> Option<Raw> {
    is_call_of_bad(message).then(|| (200, "application/json", None, text.to_owned()))
}

#[tokio::test]
async fn an_answer_that_no_client_could_use_becomes_one_sentence_that_names_the_server()
-> Result<()> {
    let faults: [(&str, Handler); 8] = [
        ("another id", |m, _| raw(m, r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#)),
        ("no id", |m, _| raw(m, r#"{"jsonrpc":"2.0","result":{}}"#)),
        ("a request", |m, _| {
            raw(m, r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}"#)
        }),
        ("a number", |m, _| raw(m, "5")),
        ("half an object", |m, _| raw(m, r#"{"jsonrpc":"2.0","id":1,"result":{"#)),
        ("nothing", |m, _| raw(m, "")),
        ("no JSON", |m, _| is_call_of_bad(m).then(|| (200, "text/html", None, "<p>".to_owned()))),
        ("compressed bytes", |m, _| {
            let gzip = Some(("content-encoding", "gzip"));
            is_call_of_bad(m).then(|| (200, "application/json", gzip, "\u{1f}".to_owned()))
        }),
    ];
    for (what, handler) in faults {
        let faulty = Faulty::start(handler).await?;
        let url = faulty.url();
        let plugway =
            Plugway::start(format!("name: hub\nupstreams: [{{name: odd, url: '{url}'}}]\n"))
                .await?;
        for client in [plugway.legacy().await?, plugway.modern()] {
            let result = client.call_tool("odd_bad", json!({})).await.context(what)?;
            let text = result.pointer("/content/0/text").and_then(Value::as_str);
            ensure!(result.get("isError") == Some(&json!(true)), "{what}: {result}");
            ensure!(text.is_some_and(|text| text.contains("odd")), "{what}: {result}");
            ensure!(client.call_text("odd_good", json!({})).await?.contains("fine"), "{what}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_tool_that_is_too_large_costs_nobody_else_their_tools() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let faulty = Faulty::start(|message, _| {
        if message.get("method")? != "tools/list" {
            return None;
        }
        let tool = |name: &str, text: &str| json!({ "name": name, "description": text, "inputSchema": { "type": "object" } });
        let tools = json!([tool("small", "fits"), tool("huge", &"x".repeat(2 << 20))]);
        Some(body(&json!({ "jsonrpc": "2.0", "id": message.get("id")?, "result": { "tools": tools } })))
    })
    .await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams:\n  - {{name: odd, url: '{}'}}\n  - {{name: clock, url: '{}'}}\n",
        faulty.url(),
        clock.url()
    ))
    .await?;
    plugway.wait_until_connected(&["odd", "clock"]).await?;
    let names = plugway.legacy().await?.tool_names().await?;
    for (name, shown) in [("odd_small", true), ("clock_echo", true), ("odd_huge", false)] {
        ensure!(names.iter().any(|known| known == name) == shown, "{name}: {names:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_refuses_to_list_its_tools_is_asked_again() -> Result<()> {
    let faulty = Faulty::start(|message, count| {
        if message.get("method")? != "tools/list" || count > 1 {
            return None;
        }
        let error = json!({ "code": -32603, "message": "the database is starting" });
        Some(body(&json!({ "jsonrpc": "2.0", "id": message.get("id")?, "error": error })))
    })
    .await?;
    let url = faulty.url();
    let plugway =
        Plugway::start(format!("name: hub\nupstreams: [{{name: odd, url: '{url}'}}]\n")).await?;
    let client = plugway.legacy().await?;
    wait::until("the tools are listed", BOUND, async || {
        let names = client.tool_names().await?;
        Ok(names.iter().any(|name| name == "odd_good").then_some(()))
    })
    .await
}
