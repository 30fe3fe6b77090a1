//! A client of the legacy era at a server of the modern era, which asks in its results.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Pipe, Plugway,
    exact::Exact,
    replay::Replayed,
    rpc::{Client, Events},
};
use serde_json::{Value, json};

use super::{BOUND, everything, exchange, hub, start, text_of};

/// What the client says to each kind of question.
fn answers() -> [(&'static str, Value); 3] {
    [
        ("elicitation/create", json!({"action": "accept", "content": {"n": 1.5}})),
        (
            "sampling/createMessage",
            json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}),
        ),
        ("roots/list", json!({"roots": [{"uri": "file:///a"}]})),
    ]
}

fn elicitation(message: &str) -> Value {
    let params =
        json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}});
    json!({"method": "elicitation/create", "params": params})
}

fn params(more: &Value) -> Value {
    let mut params = json!({"name": "ask", "arguments": {"n": 1}});
    if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
        params.extend(more.clone());
    }
    params
}

fn round(name: &str, more: &Value, result: Value) -> String {
    let mut result = result;
    if result.get("content").is_none() {
        result["resultType"] = json!("input_required");
    } else {
        result["resultType"] = json!("complete");
    }
    exchange(
        name,
        &[
            ("client", json!({"id": 1, "method": "tools/call", "params": params(more)})),
            ("server", json!({"id": 1, "result": result})),
        ],
    )
}

/// A server that asks everything, then once more, and is content with any answer to that.
fn asking() -> String {
    let discovered = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "ttlMs": 0, "cacheScope": "private",
    });
    let tools = json!([{"name": "ask", "inputSchema": {"type": "object"}}]);
    let mut text = exchange(
        "open",
        &[
            ("client", json!({"id": 1, "method": "server/discover", "params": {}})),
            ("server", json!({"id": 1, "result": discovered})),
        ],
    );
    text += &exchange(
        "tools",
        &[
            ("client", json!({"id": 2, "method": "tools/list"})),
            ("server", json!({"id": 2, "result": {"resultType": "complete", "tools": tools}})),
        ],
    );
    let sampling = json!({"messages": [], "maxTokens": 5});
    let questions = json!({
        "e": elicitation("Who?"),
        "s": {"method": "sampling/createMessage", "params": sampling},
        "r": {"method": "roots/list"},
    });
    text += &round("all", &json!({}), json!({"inputRequests": questions, "requestState": "one"}));
    let [e, s, r] = answers().map(|(_, answer)| answer);
    let given = json!({"inputResponses": {"e": e, "s": s, "r": r}, "requestState": "one"});
    let once_more = json!({"k": elicitation("Sure?")});
    text += &round("more", &given, json!({"inputRequests": once_more, "requestState": "two"}));
    for action in ["accept", "decline", "cancel"] {
        let given = json!({"inputResponses": {"k": {"action": action}}, "requestState": "two"});
        let content = json!([{"type": "text", "text": action}]);
        text += &round(action, &given, json!({"content": content}));
    }
    text
}

async fn next(events: &mut Events) -> Result<Value> {
    events.next(BOUND).await?.context("the stream ended")
}

fn answer_to(asked: &Value) -> Result<Value> {
    let found = answers().into_iter().find(|(method, _)| asked["method"] == *method);
    Ok(found.with_context(|| format!("what is {asked}?"))?.1)
}

async fn client(plugway: &Plugway) -> Result<Client> {
    Client::legacy_with(plugway.address(), "/mcp", everything()).await
}

/// Calls, and answers everything of the first round: the id of the call and its stream.
async fn first_round(client: &Client) -> Result<(u64, Events)> {
    let call = json!({"name": "up_ask", "arguments": {"n": 1}});
    let (id, mut events) = client.open_as("tools/call", call).await?;
    for _ in 0..3 {
        let asked = next(&mut events).await?;
        ensure!(client.answer(&asked, answer_to(&asked)?).await? == 202);
    }
    Ok((id, events))
}

/// How the server was called, apart from what every request of its era has.
fn calls(server: &Replayed) -> Result<Vec<Exact>> {
    server.asked("tools/call")
}

#[tokio::test]
async fn every_kind_is_asked_round_by_round_whatever_the_client_says() -> Result<()> {
    for server in [Replayed::over_http(&asking()).await?, Replayed::over_pipes(&asking())?] {
        let plugway = start(&server).await?;
        let client = client(&plugway).await?;
        for (number, action) in (1..).zip(["accept", "decline", "cancel"]) {
            let (id, mut events) = first_round(&client).await?;
            let asked = next(&mut events).await?;
            ensure!(asked["params"]["message"] == "[up] Sure?", "{asked}");
            client.answer(&asked, json!({"action": action})).await?;
            let done = next(&mut events).await?;
            ensure!(done["id"] == id && text_of(&done["result"])? == action, "{done}");
            ensure!(events.next(BOUND).await?.is_none(), "something follows the response");
            let calls = calls(&server)?;
            ensure!(calls.len() == 3 * number, "{calls:?}");
            let ids: std::collections::BTreeSet<_> =
                calls.iter().map(|one| one.at(&["id"])).collect();
            ensure!(ids.len() == calls.len(), "two calls under one id: {ids:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_client_over_pipes_is_asked_on_its_pipe() -> Result<()> {
    let server = Replayed::over_pipes(&asking())?;
    let mut pipe = Pipe::start(hub(&server)?)?;
    pipe.initialize_with("2025-11-25", everything()).await?;
    let id = pipe.ask("tools/call", json!({"name": "up_ask", "arguments": {"n": 1}})).await?;
    for round in 0..4 {
        let asked = pipe.read().await?.context("the output ended")?;
        let answer = if round < 3 { answer_to(&asked)? } else { json!({"action": "decline"}) };
        pipe.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer})).await?;
    }
    let done = pipe.response(&id).await?;
    ensure!(text_of(&done["result"])? == "decline", "{done}");
    ensure!(calls(&server)?.len() == 3);
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_an_error_ends_the_call_with_it() -> Result<()> {
    let server = Replayed::over_http(&asking()).await?;
    let plugway = start(&server).await?;
    let client = client(&plugway).await?;
    let (id, mut events) = first_round(&client).await?;
    let asked = next(&mut events).await?;
    let error = json!({"code": -1, "message": "The user rejects it.", "data": {"n": 1.5}});
    ensure!(client.refuse(&asked, error.clone()).await? == 202);
    let done = next(&mut events).await?;
    ensure!(done["id"] == id && done["error"] == error, "{done}");
    ensure!(calls(&server)?.len() == 2, "the server was called again");
    Ok(())
}

#[tokio::test]
async fn a_client_that_cancels_gets_nothing_and_the_server_is_not_called_again() -> Result<()> {
    let server = Replayed::over_http(&asking()).await?;
    let plugway = start(&server).await?;
    let client = client(&plugway).await?;
    let (id, mut events) = first_round(&client).await?;
    let asked = next(&mut events).await?;
    client.notify("notifications/cancelled", json!({"requestId": id})).await?;
    ensure!(events.next(BOUND).await?.is_none(), "an answer to a call that was given up");
    // An answer that comes late is for nobody, and the session goes on.
    ensure!(client.answer(&asked, json!({"action": "accept"})).await? == 202);
    let (_, mut events) = first_round(&client).await?;
    let asked = next(&mut events).await?;
    client.answer(&asked, json!({"action": "accept"})).await?;
    ensure!(text_of(&next(&mut events).await?["result"])? == "accept");
    ensure!(calls(&server)?.len() == 5, "{:?}", calls(&server)?);
    Ok(())
}

#[tokio::test]
async fn a_client_that_lost_its_connection_is_asked_again_and_nothing_is_called_twice() -> Result<()>
{
    let server = Replayed::over_http(&asking()).await?;
    let plugway = start(&server).await?;
    let client = client(&plugway).await?;
    let call = json!({"name": "up_ask", "arguments": {"n": 1}});
    let (id, mut events) = client.open_as("tools/call", call).await?;
    // The first event has no message; each question is lost once.
    let mut last = events.next_event(BOUND).await?.context("no event")?.id.context("no id")?;
    let mut rounds = Vec::new();
    for round in 0..4 {
        let lost = events.next_event(BOUND).await?.context("no question")?;
        drop(events);
        events = client.resume(&last).await?;
        let asked = loop {
            let event = events.next_event(BOUND).await?.context("no question")?;
            if event.message.is_some() {
                break event;
            }
        };
        ensure!(asked == lost, "{asked:?} in the place of {lost:?}");
        let message = asked.message.context("no message")?;
        let answer = if round < 3 { answer_to(&message)? } else { json!({"action": "accept"}) };
        client.answer(&message, answer).await?;
        last = asked.id.context("no id")?;
        rounds.push(message["method"].clone());
    }
    let done = next(&mut events).await?;
    ensure!(done["id"] == id && text_of(&done["result"])? == "accept", "{done} {rounds:?}");
    ensure!(calls(&server)?.len() == 3, "{:?}", calls(&server)?);
    Ok(())
}
