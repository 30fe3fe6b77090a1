//! Each call leaves exactly one line, however it ends.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use plugway_tests::faulty::{Faulty, Raw, body};
use plugway_tests::scratch::Scratch;
use plugway_tests::{
    Hub, Pipe, Plugway, Scripted, audit, binary, http,
    plugway::Setup,
    rpc::{Channel, Client},
    wait,
};
use serde_json::{Value, json};

use crate::{audited, call, scripted};

const BOUND: Duration = Duration::from_secs(20);

/// The only line of a call once a later call has one too: whatever would come twice is there by then.
async fn the_line(plugway: &Plugway) -> Result<Value> {
    audit::until(plugway, "call", 1).await?;
    let after = plugway.legacy().await?;
    after.call("tools/call", call("none", &json!({}))).await?;
    let lines = audit::until(plugway, "call", 2).await?;
    let [line, after] = lines.as_slice() else { bail!("{lines:?}") };
    ensure!(after.get("name").is_some_and(|name| name == "none"), "{lines:?}");
    Ok(line.clone())
}

#[tokio::test]
async fn results_errors_and_large_answers_are_told_apart() -> Result<()> {
    let (server, plugway) = scripted(json!({})).await?;
    let client = plugway.legacy().await?;
    client.call_tool("up_json", json!({})).await?;
    client.call_tool("up_events", json!({})).await?;
    for form in ["json", "events"] {
        let big = json!({"bytes": 3_000_000, "form": form});
        client.call_tool("up_big", big).await?;
    }
    server.release();
    let steps =
        json!({"name": "up_steps", "arguments": {"steps": 1}, "_meta": {"progressToken": 1}});
    client.call("tools/call", steps).await?;
    let lines = audit::until(&plugway, "call", 5).await?;
    ensure!(lines.len() == 5 && lines.iter().all(|line| line["outcome"] == "ok"), "{lines:?}");
    for line in lines.iter().filter(|line| line["name"] == "up_big") {
        ensure!(line["bytes_out"].as_u64().is_some_and(|bytes| bytes > 3_000_000), "{line}");
    }
    Ok(())
}

/// A server whose tool answers as its argument says.
fn wrong(message: &Value, _: u64) -> Option<Raw> {
    let id = message.get("id")?;
    let wanted = message.pointer("/params/arguments/as")?.as_str()?;
    let error = json!({"code": -32050, "message": "no", "data": {"code": 7}});
    Some(match wanted {
        "tool" => {
            body(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "isError": true}}))
        }
        "rpc" => body(&json!({"jsonrpc": "2.0", "id": id, "error": error})),
        _ => (200, "application/json", None, "{\"jsonrpc\":\"2.0\",\"id\"".to_owned()),
    })
}

#[tokio::test]
async fn a_tool_that_fails_a_server_that_refuses_and_one_that_breaks_off() -> Result<()> {
    let server = Faulty::start(wrong).await?;
    let hub = audited(Hub::new("hub").upstream("up", &server.url()), json!({}));
    let plugway = hub.start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for wanted in ["tool", "rpc", "half"] {
            client.call("tools/call", call("up_good", &json!({"as": wanted}))).await?;
        }
    }
    let lines = audit::until(&plugway, "call", 6).await?;
    ensure!(lines.len() == 6, "{lines:?}");
    for (at, outcome) in ["tool-error", "rpc-error", "fault"].iter().cycle().take(6).enumerate() {
        ensure!(lines[at]["outcome"] == *outcome, "{at}: {lines:?}");
        ensure!(lines[at]["verdict"] == "allowed" && lines[at]["upstream"] == "up", "{lines:?}");
    }
    ensure!(lines[1]["rpc_code"] == -32050 && lines[2]["fault"] == "upstream-broken", "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn a_child_that_ends_in_the_middle() -> Result<()> {
    let rough = binary::find("rough-server")?;
    let configuration = json!({
        "name": "hub", "audit": {"file": audit::FILE},
        "upstreams": [{"name": "kid", "command": rough}],
    });
    let plugway = Plugway::start(configuration.to_string()).await?;
    let client = plugway.legacy().await?;
    client.call("tools/call", call("kid_crash", &json!({}))).await?;
    let line = the_line(&plugway).await?;
    ensure!(line["outcome"] == "fault" && line["upstream"] == "kid", "{line}");
    Ok(())
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled() -> Result<()> {
    let (_server, plugway) = scripted(json!({})).await?;
    let client = plugway.legacy().await?;
    let steps =
        json!({"name": "up_steps", "arguments": {"steps": 1}, "_meta": {"progressToken": 1}});
    let (id, mut events) = client.open_as("tools/call", steps).await?;
    events.next(BOUND).await?.context("no progress")?;
    client.notify("notifications/cancelled", json!({"requestId": id})).await?;
    ensure!(events.next(BOUND).await?.is_none(), "an answer to a call that was given up");
    let line = the_line(&plugway).await?;
    ensure!(line["outcome"] == "cancelled" && line["name"] == "up_steps", "{line}");
    Ok(())
}

#[tokio::test]
async fn a_client_that_goes_away_abandons_its_call() -> Result<()> {
    let (_server, plugway) = scripted(json!({})).await?;
    let steps =
        json!({"name": "up_steps", "arguments": {"steps": 1}, "_meta": {"progressToken": 1}});
    let mut events = plugway.modern().open("tools/call", steps).await?;
    events.next(BOUND).await?.context("no progress")?;
    drop(events);
    let line = the_line(&plugway).await?;
    ensure!(line["outcome"] == "abandoned", "{line}");
    ensure!(line["bytes_out"].as_u64().is_some_and(|bytes| bytes > 0), "{line}");
    Ok(())
}

#[tokio::test]
async fn a_client_that_goes_away_before_the_answer_begins() -> Result<()> {
    let (server, plugway) = scripted(json!({})).await?;
    let client = plugway.modern();
    let (_, request) = client.request("tools/call", call("up_pair", &json!({"word": "x"})))?;
    let address = plugway.address();
    let asking = tokio::spawn(async move { http::open(address, request).await.map(drop) });
    wait::until("the server has the call", BOUND, async || Ok((server.calls() > 0).then_some(())))
        .await?;
    asking.abort();
    let line = the_line(&plugway).await?;
    ensure!(line["outcome"] == "abandoned", "{line}");
    Ok(())
}

#[tokio::test]
async fn a_client_over_pipes_and_each_call_of_a_batch() -> Result<()> {
    let server = Scripted::start().await?;
    let folder = Scratch::new()?;
    let file = folder.path().join(audit::FILE).display().to_string();
    let configuration = json!({
        "name": "hub", "audit": {"file": file}, "upstreams": [{"name": "up", "url": server.url()}],
    });
    let mut pipe = Pipe::of(Setup::new(configuration.to_string()), &[])?;
    pipe.initialize_as("2025-03-26").await?;
    pipe.tool("up_json", json!({})).await?;
    let part = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call("up_json", &json!({}))});
    pipe.send(&json!([part(501), part(502)])).await?;
    pipe.read().await?.context("no answer")?;
    pipe.tool_modern("up_json", json!({})).await?;
    pipe.close_input();
    ensure!(pipe.ended().await?.success());
    let lines = audit::all(folder.path())?;
    let calls = lines.iter().filter(|line| line["kind"] == "call").count();
    ensure!(calls == 4 && lines.last().is_some_and(|line| line["kind"] == "stop"), "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn each_call_of_a_batch_over_http() -> Result<()> {
    let (_server, plugway) = scripted(json!({})).await?;
    let client = Client::legacy_of(plugway.address(), "/mcp", "2025-03-26").await?;
    let part = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call("up_json", &json!({}))});
    let session = client.session().context("no session")?;
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-03-26")];
    let batch = json!([part(1), part(2), part(3)]).to_string();
    ensure!(http::post(plugway.address(), "/mcp", &headers, batch).await?.status == 200);
    let lines = audit::until(&plugway, "call", 3).await?;
    ensure!(lines.len() == 3, "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn a_client_over_http_and_sse() -> Result<()> {
    let (_server, plugway) = scripted(json!({})).await?;
    let mut channel = Channel::open(plugway.address(), "/sse", None).await?;
    channel.initialize().await?;
    channel.call(7, "tools/call", call("up_json", &json!({}))).await?;
    let lines = audit::until(&plugway, "call", 1).await?;
    ensure!(lines.len() == 1 && lines[0]["outcome"] == "ok", "{lines:?}");
    Ok(())
}
