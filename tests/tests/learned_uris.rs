//! Resources that no list has are read where their URI came from.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use anyhow::{Result, ensure};
use plugway_tests::{
    Plugway,
    faulty::{self, Faulty, Raw},
    rpc::Client,
};
use serde_json::{Value, json};

/// A server with resources that it does not list: its tool `good` gives the URI of one.
fn giving(message: &Value, name: &str) -> Option<Raw> {
    let tool = |tool: &str| {
        json!({
            "name": tool, "inputSchema": {"type": "object"},
            "_meta": {"ui": {"resourceUri": format!("ui://{name}/app")}},
        })
    };
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": name, "version": "0"},
        }),
        "tools/list" => json!({"tools": [tool("good")]}),
        "resources/list" => json!({"resources": []}),
        "resources/templates/list" => json!({"resourceTemplates": []}),
        "tools/call" => json!({"content": [
            {"type": "resource_link", "uri": "made://1", "name": "one"},
            {"type": "resource", "resource": {"uri": format!("made://{name}"), "text": "x"}},
        ]}),
        "resources/read" => {
            json!({"contents": [{"uri": message["params"]["uri"], "text": name}]})
        }
        _ => return None,
    };
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}

/// Who answers for a URI; none where it is unknown.
async fn reader(client: &Client, uri: &str) -> Result<Option<String>> {
    let reply = client.call("resources/read", json!({"uri": uri})).await?;
    if reply.error_code().is_ok_and(|code| code == -32602) {
        return Ok(None);
    }
    Ok(reply.result()?["contents"][0]["text"].as_str().map(str::to_owned))
}

#[tokio::test]
async fn a_uri_leads_to_the_server_that_gave_it() -> Result<()> {
    let one = Faulty::start(|message, _| giving(message, "one")).await?;
    let two = Faulty::start(|message, _| giving(message, "two")).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nstatus: false\nupstreams: [{{name: one, url: '{}'}}, {{name: two, url: '{}'}}]\n",
        one.url(), two.url()
    ))
    .await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        ensure!(reader(&client, "made://1").await?.is_none());
        client.call_tool("two_good", json!({})).await?;
        ensure!(reader(&client, "made://1").await?.as_deref() == Some("two"));
        ensure!(reader(&client, "made://two").await?.as_deref() == Some("two"));
        ensure!(reader(&client, "made://one").await?.is_none());
        client.call_tool("one_good", json!({})).await?;
        ensure!(reader(&client, "made://1").await?.as_deref() == Some("one"), "the last word");
        ensure!(reader(&client, "ui://two/app").await?.as_deref() == Some("two"));
        ensure!(reader(&client, "ui://three/app").await?.is_none());
        let other = plugway.legacy().await?;
        ensure!(reader(&other, "made://1").await?.is_none(), "it was given to somebody else");
    }
    Ok(())
}

#[tokio::test]
async fn the_only_server_with_resources_is_asked_for_any() -> Result<()> {
    let one = Faulty::start(|message, _| giving(message, "one")).await?;
    let plain = Faulty::start(|_, _| None).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: plain, url: '{}'}}, {{name: one, url: '{}'}}]\n",
        plain.url(),
        one.url()
    ))
    .await?;
    ensure!(reader(&plugway.modern(), "any://thing").await?.as_deref() == Some("one"));
    Ok(())
}
