//! A confirmed call whose server asks for something itself.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Hub,
    asking::{accepted, elicitation, outcome, over_http},
    replay::Replayed,
};
use serde_json::{Value, json};

use super::{again, confirming, done, modern, next, question, required, session, text_of, yes};

#[tokio::test]
async fn a_legacy_server_asks_after_the_confirmation_clients_of_both_eras() -> Result<()> {
    let server = over_http().await?;
    let hub = Hub::new("hub").upstream("web", server.url());
    let plugway = hub.policy(confirming(json!({"only": ["web_ask"]}))).start().await?;
    let call = json!({"name": "web_ask", "arguments": elicitation("Which word?")});
    let client = session(&plugway).await?;
    let mut stream = client.open("tools/call", call.clone()).await?;
    let wanted = question(&mut stream).await?;
    client.answer(&wanted, yes()).await?;
    let asked = next(&mut stream).await?;
    ensure!(asked["params"]["message"] == "[web] Which word?", "{asked}");
    client.answer(&asked, accepted("tea")).await?;
    let response = done(&mut stream).await?;
    let given = outcome(&response["result"])?;
    ensure!(given.to_string().contains("tea"), "{given}");

    let client = modern(&plugway);
    let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
    let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
    let result = reply.result()?;
    let asked = &result["inputRequests"]["elicitation-1"];
    ensure!(asked["params"]["message"] == "[web] Which word?", "{reply:?}");
    let mut retry = call.clone();
    retry["inputResponses"] = json!({"elicitation-1": accepted("milk")});
    retry["requestState"] = result["requestState"].clone();
    // Not for another call.
    let mut other = retry.clone();
    other["arguments"]["params"]["message"] = json!("Another?");
    ensure!(client.call("tools/call", other).await?.error_code()? == -32602);
    let reply = client.call("tools/call", retry.clone()).await?;
    let given = outcome(reply.result()?)?;
    ensure!(given.to_string().contains("milk"), "{given}");
    ensure!(client.call("tools/call", retry).await?.error_code()? == -32602, "it was used");
    Ok(())
}

/// A recorded exchange, as lines.
fn exchange(name: &str, request: Value, result: Value) -> String {
    let mut request = request;
    request["jsonrpc"] = json!("2.0");
    request["id"] = json!(1);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let lines = [json!({"exchange": name}), json!({"client": request}), json!({"server": answer})];
    lines.map(|line| line.to_string() + "\n").concat()
}

/// A server of the modern era that asks once, and keeps its place in a state.
fn recording() -> String {
    let discovered = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "ttlMs": 0, "cacheScope": "private",
    });
    let tools = json!([{"name": "ask", "inputSchema": {"type": "object"}}]);
    let schema = json!({"type": "object", "properties": {}});
    let asked = json!({"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}});
    let call = |more: Value| {
        let mut params = json!({"name": "ask", "arguments": {"n": 1}});
        if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
            params.extend(more.clone());
        }
        json!({"method": "tools/call", "params": params})
    };
    let given = json!({"inputResponses": {"k": {"action": "accept"}}, "requestState": "own"});
    [
        exchange("open", json!({"method": "server/discover", "params": {}}), discovered),
        exchange("tools", json!({"method": "tools/list"}), json!({"resultType": "complete", "tools": tools})),
        exchange("first", call(json!({})), json!({
            "resultType": "input_required", "inputRequests": {"k": asked}, "requestState": "own",
        })),
        exchange("again", call(given), json!({
            "resultType": "complete", "content": [{"type": "text", "text": "done"}],
        })),
    ]
    .concat()
}

#[tokio::test]
async fn a_modern_server_asks_after_the_confirmation_and_gets_its_own_state_back() -> Result<()> {
    for server in [Replayed::over_http(&recording()).await?, Replayed::over_pipes(&recording())?] {
        let guest = confirming(json!({}));
        let configuration = json!({
            "name": "hub", "upstreams": [server.upstream("up")?], "policies": ["confirming"],
            "plugins": {"confirming": {"file": guest.file(), "limits": {"time_ms": 2000}}},
        });
        let setup = plugway_tests::plugway::Setup::new(configuration.to_string());
        let plugway = setup.file(&guest.file(), guest.bytes()?).start().await?;
        let call = json!({"name": "up_ask", "arguments": {"n": 1}});
        let client = modern(&plugway);
        let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
        let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
        let result = reply.result()?;
        ensure!(result["inputRequests"]["k"]["params"]["message"] == "[up] Who?", "{reply:?}");
        let carried = result["requestState"].as_str().context("no state")?;
        ensure!(carried != "own", "who has that state could call without a confirmation");
        let mut retry = call.clone();
        retry["inputResponses"] = json!({"k": {"action": "accept"}});
        retry["requestState"] = json!(carried);
        let reply = client.call("tools/call", retry.clone()).await?;
        ensure!(text_of(reply.response()?)? == "done", "{reply:?}");
        ensure!(client.call("tools/call", retry).await?.error_code()? == -32602, "it was used");

        let client = session(&plugway).await?;
        let mut stream = client.open("tools/call", call.clone()).await?;
        let wanted = question(&mut stream).await?;
        client.answer(&wanted, yes()).await?;
        let asked = next(&mut stream).await?;
        ensure!(asked["params"]["message"] == "[up] Who?", "{asked}");
        client.answer(&asked, json!({"action": "accept"})).await?;
        ensure!(text_of(&done(&mut stream).await?)? == "done");
        ensure!(server.asked("tools/call")?.len() == 4, "{:?}", server.asked("tools/call")?);
    }
    Ok(())
}
