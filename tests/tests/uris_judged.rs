//! Policies judge the URI that is asked for, not only the entry that it fits; and whatever else stands for something else.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Guest, Hub,
    faulty::{self, Faulty, Raw},
    rpc::Client,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// A server of notes with these templates, that reads whatever it is asked for.
fn notes(message: &Value, templates: &[&str]) -> Option<Raw> {
    let named = |template: &&str| json!({"name": "note", "uriTemplate": template});
    let templates: Vec<Value> = templates.iter().map(named).collect();
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "resources": {"subscribe": true}, "completions": {}},
            "serverInfo": {"name": "notes", "version": "0"},
        }),
        "tools/call" => json!({"content": [
            {"type": "resource_link", "uri": "made://private/1", "name": "one"},
            {"type": "resource_link", "uri": "made://public/1", "name": "two"},
        ]}),
        "resources/list" => json!({"resources": []}),
        "resources/templates/list" => json!({"resourceTemplates": templates}),
        "resources/read" => {
            json!({"contents": [{"uri": message["params"]["uri"], "text": "read"}]})
        }
        "completion/complete" => json!({"completion": {"values": ["completed"]}}),
        "resources/subscribe" | "x/peek" => json!({}),
        _ => return None,
    };
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}

async fn in_folders() -> Result<Faulty> {
    Faulty::start(|message, _| notes(message, &["notes://{folder}/{name}"])).await
}

async fn on_paths() -> Result<Faulty> {
    Faulty::start(|message, _| notes(message, &["notes://secret/{x}", "notes://{+path}"])).await
}

fn hub(server: &Faulty) -> Hub {
    Hub::new("hub").upstream("notes", &server.url()).key("status", json!(false))
}

/// Whether a request is served; else what it names is unknown.
async fn served(client: &Client, method: &str, params: Value) -> Result<bool> {
    let reply = client.call(method, params).await?;
    match reply.error_code() {
        Ok(code) => {
            ensure!([-32602, -32601].contains(&code), "{}", reply.text);
            Ok(false)
        }
        Err(_served) => reply.result().map(|_| true),
    }
}

async fn ensure_read(client: &Client, uri: &str, is_read: bool) -> Result<()> {
    ensure!(served(client, "resources/read", json!({"uri": uri})).await? == is_read, "{uri}");
    Ok(())
}

#[tokio::test]
async fn a_hidden_uri_is_reached_through_no_template_and_no_link() -> Result<()> {
    let server = in_folders().await?;
    let hidden = json!({"resources": {"disabled": ["notes://private/*", "made://private/*"]}});
    let plugway = hub(&server).bundled("visibility", hidden).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let listed = client.call("resources/templates/list", json!({})).await?;
        let listed = &listed.result()?["resourceTemplates"];
        ensure!(listed[0]["uriTemplate"] == "notes://{folder}/{name}", "{listed}");
        ensure_read(&client, "notes://public/x", true).await?;
        for uri in ["notes://private/x", "notes://%70rivate/x", "notes://private/%78"] {
            ensure_read(&client, uri, false).await?;
        }
        client.call_tool("notes_good", json!({})).await?;
        ensure_read(&client, "made://public/1", true).await?;
        ensure_read(&client, "made://private/1", false).await?;
        for (uri, is_served) in [("notes://public/x", true), ("notes://private/x", false)] {
            let params = json!({
                "ref": {"type": "ref/resource", "uri": uri},
                "argument": {"name": "name", "value": ""},
            });
            ensure!(served(&client, "completion/complete", params).await? == is_served, "{uri}");
            ensure!(served(&client, "x/peek", json!({"uri": uri})).await? == is_served, "{uri}");
        }
    }
    let client = plugway.legacy().await?;
    for (uri, is_served) in [("notes://public/x", true), ("notes://private/x", false)] {
        let params = json!({"uri": uri});
        ensure!(served(&client, "resources/subscribe", params).await? == is_served, "{uri}");
    }
    Ok(())
}

#[tokio::test]
async fn a_hidden_template_hides_its_uris_from_wider_ones() -> Result<()> {
    let server = on_paths().await?;
    let hidden = json!({"resources": {"disabled": ["notes://secret/{x}"]}});
    let plugway = hub(&server).bundled("visibility", hidden).start().await?;
    let wide = json!({"resources": {"disabled": ["notes://{+path}"]}});
    let narrow = hub(&server).bundled("visibility", wide).start().await?;
    let dots = "notes://a/../secret/zzz";
    for (uri, by_wide, by_narrow) in [
        ("notes://secret/zzz", false, true),
        ("notes://%73ecret/zzz", false, false),
        (dots, false, false),
        ("notes://a/b/c", true, false),
        ("notes://secret/a/b", true, false),
    ] {
        ensure_read(&plugway.modern(), uri, by_wide).await?;
        ensure_read(&narrow.modern(), uri, by_narrow).await?;
    }
    let hidden = json!({"resources": {"disabled": ["notes://private/*"]}});
    let plugway = hub(&server).bundled("visibility", hidden).start().await?;
    for uri in ["notes://public/../private/x", "notes://public/%2E%2e/private/x"] {
        ensure_read(&plugway.modern(), uri, false).await?;
    }
    Ok(())
}

#[tokio::test]
async fn what_is_enabled_by_its_template_or_its_name_is_read() -> Result<()> {
    let server = in_folders().await?;
    for glob in ["notes://{folder}/{name}", "note", "notes://*"] {
        let enabled = json!({"resources": {"enabled": [glob]}});
        let plugway = hub(&server).bundled("visibility", enabled).start().await?;
        let client = plugway.legacy().await?;
        ensure_read(&client, "notes://a/b", true).await?;
        client.call_tool("notes_good", json!({})).await?;
        ensure_read(&client, "made://public/1", false).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_stream_tells_of_no_resource_that_policies_are_against() -> Result<()> {
    const A: &str = "board://notes/a";
    const B: &str = "board://notes/b";
    let blocks = json!({"blocked_resources": [B]});
    let hides = json!({"resources": {"disabled": [B]}});
    for (plugin, config) in [("gateway", blocks), ("visibility", hides)] {
        let board = DemoHttp::board("127.0.0.1:0", "legacy").await?;
        let plugway =
            Hub::new("hub").upstream("board", board.url()).bundled(plugin, config).start().await?;
        let wishes = json!({"notifications": {"resourceSubscriptions": [B, A]}});
        let mut events = plugway.modern().open("subscriptions/listen", wishes).await?;
        let first = events.next(BOUND).await?.context("the stream ended")?;
        let honoured = &first["params"]["notifications"];
        ensure!(*honoured == json!({"resourceSubscriptions": [A]}), "{plugin}: {first}");
        for name in ["b", "a"] {
            let text = json!({"name": name, "text": "x"});
            plugway.modern().call_text("board_pin", text).await?;
        }
        let told = events.next(BOUND).await?.context("the stream ended")?;
        ensure!(told["params"]["uri"] == A, "{plugin}: the server was asked: {told}");
    }
    Ok(())
}

#[tokio::test]
async fn policies_are_told_how_a_uri_is_spelt_normally() -> Result<()> {
    let server = on_paths().await?;
    let echo = Guest::new("imports_echo").config(json!({"attributes": ["uri-normalised"]}));
    let plugway = hub(&server).policy(echo).start().await?;
    for (uri, normal) in [
        ("notes://a/%62", json!("notes://a/b")),
        ("notes://a/../b/c", json!("notes://b/c")),
        ("notes://a/b", Value::Null),
    ] {
        let reply = plugway.modern().call("resources/read", json!({"uri": uri})).await?;
        let seen = &reply.result()?["structuredContent"]["call"];
        ensure!(seen["name"] == uri, "{seen}");
        ensure!(seen["attributes"]["uri-normalised"] == normal, "{seen}");
    }
    Ok(())
}

#[tokio::test]
async fn call_tool_that_policies_do_not_list_calls_nothing() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let lazy = || Hub::before(clock.url()).key("discovery", json!("lazy"));
    let blocked = lazy().bundled("gateway", json!({"blocked_tools": ["call_tool"]}));
    let unlists = Guest::new("visibility_by_scope").config(json!({"unlist": ["call_tool"]}));
    for (hub, says) in
        [(blocked, "'call_tool' is blocked"), (lazy().policy(unlists), "not to be used here")]
    {
        let plugway = hub.start().await?;
        for client in [plugway.legacy().await?, plugway.modern()] {
            let call = json!({"name": "clock_now", "arguments": {}});
            let result = client.call_tool("call_tool", call).await?;
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            ensure!(result["isError"] == true && text.contains(says), "{result}");
        }
    }
    ensure!(clock.count("tools/call").await? == 0, "it was called");
    Ok(())
}
