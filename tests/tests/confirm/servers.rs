//! A confirmed call whose server asks for something itself.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Plugway, plugway::Setup, replay::Replayed};
use serde_json::{Value, json};

use super::{again, confirming, done, modern, next, question, required, session, text_of, yes};

/// A recorded exchange, as lines.
fn exchange(name: &str, steps: &[(&str, Value)]) -> String {
    let steps = steps.iter().map(|(whose, message)| {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        json!({ (*whose): message }).to_string() + "\n"
    });
    [json!({"exchange": name}).to_string() + "\n"].into_iter().chain(steps).collect()
}

fn answered(name: &str, mut request: Value, result: &Value) -> String {
    request["id"] = json!(1);
    exchange(name, &[("client", request), ("server", json!({"id": 1, "result": result}))])
}

fn tools() -> Value {
    json!([{"name": "ask", "inputSchema": {"type": "object"}}])
}

fn who() -> Value {
    json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}})
}

/// A call of the tool with these members besides.
fn call(more: Value) -> Value {
    let mut params = json!({"name": "ask", "arguments": {"n": 1}});
    if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
        params.extend(more);
    }
    json!({"method": "tools/call", "params": params})
}

fn content() -> Value {
    json!([{"type": "text", "text": "done"}])
}

/// A server of the legacy era that asks in the middle of a call.
fn legacy() -> String {
    let opened = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "asking", "version": "0"},
    });
    let mut first = call(json!({}));
    first["id"] = json!(1);
    [
        answered("open", json!({"method": "initialize", "params": {}}), &opened),
        answered("tools", json!({"method": "tools/list"}), &json!({"tools": tools()})),
        exchange(
            "call",
            &[
                ("client", first),
                ("server", json!({"id": "q", "method": "elicitation/create", "params": who()})),
                ("client", json!({"id": "q", "result": {"action": "accept"}})),
                ("server", json!({"id": 1, "result": {"content": content()}})),
            ],
        ),
    ]
    .concat()
}

/// A server of the modern era that asks once, and keeps its place in a state.
fn stateless() -> String {
    let discovered = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "ttlMs": 0, "cacheScope": "private",
    });
    let asked = json!({"k": {"method": "elicitation/create", "params": who()}});
    let asks = json!({
        "resultType": "input_required", "inputRequests": asked, "requestState": "own",
    });
    let given = json!({"inputResponses": {"k": {"action": "accept"}}, "requestState": "own"});
    let listed = json!({"resultType": "complete", "tools": tools()});
    let complete = json!({"resultType": "complete", "content": content()});
    [
        answered("open", json!({"method": "server/discover", "params": {}}), &discovered),
        answered("tools", json!({"method": "tools/list"}), &listed),
        answered("first", call(json!({})), &asks),
        answered("again", call(given), &complete),
    ]
    .concat()
}

async fn start(server: &Replayed) -> Result<Plugway> {
    let guest = confirming(json!({}));
    let configuration = json!({
        "name": "hub", "upstreams": [server.upstream("up")?], "policies": ["confirming"],
        "plugins": {"confirming": {"file": guest.file(), "limits": {"time_ms": 2000}}},
    });
    Setup::new(configuration.to_string()).file(&guest.file(), guest.bytes()?).start().await
}

/// Both eras of clients, each asked by plugway and then by the server, under this key where it comes back.
async fn asked_by_both(plugway: &Plugway, key: &str) -> Result<()> {
    let call = json!({"name": "up_ask", "arguments": {"n": 1}});
    let client = modern(plugway);
    let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
    let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
    let result = reply.result()?;
    ensure!(result["inputRequests"][key]["params"]["message"] == "[up] Who?", "{reply:?}");
    let carried = result["requestState"].as_str().context("no state")?;
    ensure!(carried != "own", "who has that state could call without a confirmation");
    let mut retry = call.clone();
    retry["inputResponses"] = json!({ key: {"action": "accept"} });
    retry["requestState"] = json!(carried);
    // Not for another call.
    let mut other = retry.clone();
    other["arguments"]["n"] = json!(2);
    ensure!(client.call("tools/call", other).await?.error_code()? == -32602);
    let reply = client.call("tools/call", retry.clone()).await?;
    ensure!(text_of(reply.response()?)? == "done", "{reply:?}");
    ensure!(client.call("tools/call", retry).await?.error_code()? == -32602, "it was used");

    let client = session(plugway).await?;
    let mut stream = client.open("tools/call", call).await?;
    let wanted = question(&mut stream).await?;
    client.answer(&wanted, yes()).await?;
    let asked = next(&mut stream).await?;
    ensure!(asked["params"]["message"] == "[up] Who?", "{asked}");
    client.answer(&asked, json!({"action": "accept"})).await?;
    ensure!(text_of(&done(&mut stream).await?)? == "done");
    Ok(())
}

#[tokio::test]
async fn a_legacy_server_asks_after_the_confirmation_and_is_called_once() -> Result<()> {
    for server in [Replayed::over_http(&legacy()).await?, Replayed::over_pipes(&legacy())?] {
        asked_by_both(&start(&server).await?, "elicitation-1").await?;
        ensure!(server.asked("tools/call")?.len() == 2, "{:?}", server.asked("tools/call")?);
    }
    Ok(())
}

#[tokio::test]
async fn a_modern_server_asks_after_the_confirmation_and_gets_its_own_state_back() -> Result<()> {
    for server in [Replayed::over_http(&stateless()).await?, Replayed::over_pipes(&stateless())?] {
        asked_by_both(&start(&server).await?, "k").await?;
        ensure!(server.asked("tools/call")?.len() == 4, "{:?}", server.asked("tools/call")?);
    }
    Ok(())
}
