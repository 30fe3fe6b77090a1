//! What stays as the server wrote it, although it looks like a link to a file.

use anyhow::{Context as _, Result, ensure};
use http::Method;
use plugway_tests::{
    Plugway, Shelf,
    faulty::{self, Faulty, Raw},
    rpc::Client,
    shelf::CSV,
};
use serde_json::{Value, json};

use super::{fetch, hub, link, parts};

/// What a server of [`asking`] calls a file of its own, and what it wants back.
const FILE: &str = "https://chem.example.com/artifacts/s/t/a.csv";
const STATE: &str = r#"{"file": "https:\/\/chem.example.com/artifacts/s/t/a.csv", "uri":1}"#;

#[tokio::test]
async fn the_uri_of_a_resource_stays_and_is_read_where_it_came_from() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    for (client, name) in [(plugway.legacy().await?, "a.csv"), (plugway.modern(), "b.csv")] {
        let uri = shelf.link(name);
        for piece in [None, Some(7), Some(1_000)] {
            let mut arguments = json!({"text": uri});
            if let Some(piece) = piece {
                arguments["piece"] = json!(piece);
            }
            let result = client.call_tool("up_resource", arguments).await?;
            let (named, embedded) = (&result["content"][1], &result["content"][2]["resource"]);
            ensure!(named["uri"] == uri && embedded["uri"] == uri, "{piece:?}: {named} {embedded}");
            parts(&plugway, embedded["text"].as_str().context("no text")?)?;
        }
        let reply = client.call("resources/read", json!({"uri": uri})).await?;
        let contents = &reply.result()?["contents"][0];
        ensure!(contents["uri"] == uri, "{contents}");
        let text = contents["text"].as_str().and_then(|text| text.strip_prefix("read "));
        parts(&plugway, text.context("the server was not asked")?)?;
    }
    Ok(())
}

/// A server of the modern era that asks before it goes on, with a state that holds a link.
fn asking(message: &Value, _: u64) -> Option<Raw> {
    let result = match message["method"].as_str()? {
        "server/discover" => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        }
        "tools/list" => {
            json!({"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" if message["params"]["inputResponses"].is_null() => {
            let schema = json!({"type": "object", "properties": {}});
            let params = json!({"message": format!("See {FILE}."), "requestedSchema": schema});
            let question = json!({"method": "elicitation/create", "params": params});
            json!({
                "resultType": "input_required", "requestState": STATE,
                "inputRequests": {"one": question},
            })
        }
        "tools/call" => {
            let state = message["params"]["requestState"] == STATE;
            let text = if state { "the same" } else { "another state" };
            json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
        }
        _ => {
            return Some(faulty::body(&json!({
                "jsonrpc": "2.0", "id": message["id"],
                "error": {"code": -32601, "message": "Method not found"},
            })));
        }
    };
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}

#[tokio::test]
async fn the_state_that_a_server_wants_back_stays() -> Result<()> {
    let server = Faulty::start(asking).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nstatus: false\nupstreams: [{{name: up, url: '{}', \
         artifact_origins: ['https://chem.example.com']}}]\n",
        server.url()
    ))
    .await?;
    let client =
        Client::modern_with(plugway.address(), "/mcp", json!({"elicitation": {"form": {}}}));
    let call = json!({"name": "up_ask", "arguments": {}});
    let reply = client.call("tools/call", call.clone()).await?;
    let asked = reply.result()?;
    let question = asked["inputRequests"]["one"]["params"]["message"].as_str();
    let question = question.with_context(|| format!("no question in {asked}"))?;
    ensure!(question.contains("See http://") && !question.contains(FILE), "{question}");
    ensure!(asked["requestState"] == STATE, "{asked}");
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({"one": {"action": "accept", "content": {}}});
    let reply = client.call("tools/call", again).await?;
    ensure!(reply.result()?["content"][0]["text"] == "the same", "{}", reply.text);
    Ok(())
}

#[tokio::test]
async fn links_of_a_server_that_runs_no_code_stay_unless_the_operator_says_that_it_gives_some()
-> Result<()> {
    let shelf = Shelf::without_code().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let shown = link(&client, "a.csv").await?;
        ensure!(shown == shelf.link("a.csv"), "{shown}");
    }
    let plugway = Plugway::start(hub(&shelf, ", artifact_origins: []", "")).await?;
    let csv = link(&plugway.modern(), "a.csv").await?;
    ensure!(fetch(&plugway, Method::GET, &csv, None).await?.text() == CSV);
    Ok(())
}
