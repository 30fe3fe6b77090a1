//! A client of the modern era at a server of the legacy era, which asks in the middle of a call.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Pipe, Plugway, replay::Replayed, rpc::Client, tokens::ANN};
use serde_json::{Value, json};

use super::{everything, exchange, hub, start, states, text_of};

/// A server whose tool `ask` asks who it is in the call of each number; `hang` waits for ever once it was answered.
pub(crate) fn asking(calls: u64) -> String {
    let tools: Vec<Value> = ["ask", "also", "hang"]
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    let opened = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "asking", "version": "0"},
    });
    let mut text = exchange(
        "open",
        &[
            ("client", json!({"id": 1, "method": "initialize", "params": {}})),
            ("server", json!({"id": 1, "result": opened})),
        ],
    );
    text += &exchange(
        "tools",
        &[
            ("client", json!({"id": 2, "method": "tools/list"})),
            ("server", json!({"id": 2, "result": {"tools": tools}})),
        ],
    );
    for number in 1..=calls {
        for tool in ["ask", "hang"] {
            text += &asked(tool, number);
        }
    }
    text
}

fn asked(tool: &str, number: u64) -> String {
    let params = json!({"name": tool, "arguments": {"n": number, "x": [1]}});
    let id = format!("{tool}-{number}");
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let question = json!({"message": format!("Who is {number}?"), "requestedSchema": schema});
    let content = json!([{"type": "text", "text": format!("{number} is done")}]);
    let last = match tool {
        "ask" => ("server", json!({"id": 1, "result": {"content": content}})),
        _ => ("client", json!({"method": "notifications/never"})),
    };
    exchange(
        &id,
        &[
            ("client", json!({"id": 1, "method": "tools/call", "params": params})),
            ("server", json!({"id": id, "method": "elicitation/create", "params": question})),
            ("client", json!({"id": id, "result": {"action": "accept"}})),
            last,
        ],
    )
}

/// The params of a call.
pub(crate) fn call(tool: &str, number: u64) -> Value {
    json!({"name": format!("up_{tool}"), "arguments": {"n": number, "x": [1]}})
}

/// The params of the retry of that call, with an answer to everything that was asked.
pub(crate) fn retry(mut params: Value, asked: &Value) -> Result<Value> {
    let questions = asked["inputRequests"].as_object().context("no questions")?;
    let answer = json!({"action": "accept", "content": {"name": "Ann"}});
    let answers = questions.keys().map(|key| (key.clone(), answer.clone()));
    params["inputResponses"] = Value::Object(answers.collect());
    params["requestState"] = asked["requestState"].clone();
    Ok(params)
}

/// Calls the tool, which asks: what is asked.
pub(crate) async fn suspended(client: &Client, tool: &str, number: u64) -> Result<Value> {
    let reply = client.call("tools/call", call(tool, number)).await?;
    let asked = reply.result()?.clone();
    ensure!(asked["resultType"] == "input_required", "{asked}");
    let questions: Vec<_> = asked["inputRequests"].as_object().into_iter().flatten().collect();
    let [(_, question)] = questions.as_slice() else { anyhow::bail!("not one question: {asked}") };
    ensure!(question["method"] == "elicitation/create", "{asked}");
    ensure!(question["params"]["message"] == format!("[up] Who is {number}?"), "{asked}");
    Ok(asked)
}

fn client(plugway: &Plugway) -> Client {
    Client::modern_with(plugway.address(), "/mcp", everything())
}

#[tokio::test]
async fn the_retry_resumes_the_call_and_the_tool_runs_once() -> Result<()> {
    for server in [Replayed::over_http(&asking(2)).await?, Replayed::over_pipes(&asking(2))?] {
        let plugway = start(&server).await?;
        let client = client(&plugway);
        let (one, two) = (suspended(&client, "ask", 1).await?, suspended(&client, "ask", 2).await?);
        for (number, asked) in [(2, two), (1, one)] {
            let again = client.call("tools/call", retry(call("ask", number), &asked)?).await?;
            let result = again.result()?;
            ensure!(text_of(result)? == format!("{number} is done"), "{result}");
            ensure!(result["resultType"] == "complete", "{result}");
        }
        let calls = server.asked("tools/call")?;
        ensure!(calls.len() == 2, "a tool ran twice: {calls:?}");
        let told = server.seen()?;
        let answers = told.iter().filter(|one| one.str_at(&["result", "action"]) == Some("accept"));
        ensure!(answers.count() == 2, "{told:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_client_over_pipes_is_asked_and_comes_back() -> Result<()> {
    let server = Replayed::over_http(&asking(1)).await?;
    let mut pipe = Pipe::start(hub(&server)?)?;
    let with = |mut params: Value| {
        params["_meta"] = json!({"io.modelcontextprotocol/clientCapabilities": everything()});
        params
    };
    let asked = pipe.call_modern("tools/call", with(call("ask", 1))).await?;
    let again = retry(call("ask", 1), &asked["result"])?;
    let done = pipe.call_modern("tools/call", with(again)).await?;
    ensure!(text_of(&done["result"])? == "1 is done", "{done}");
    ensure!(server.asked("tools/call")?.len() == 1);
    Ok(())
}

#[tokio::test]
async fn who_closes_the_stream_of_the_retry_gives_the_call_up() -> Result<()> {
    for server in [Replayed::over_http(&asking(1)).await?, Replayed::over_pipes(&asking(1))?] {
        let plugway = states::start(&server).await?;
        let client = states::client(&plugway, ANN);
        let asked = suspended(&client, "hang", 1).await?;
        let stream = client.open("tools/call", retry(call("hang", 1), &asked)?).await?;
        let call = server.asked("tools/call")?.pop().context("no call")?;
        ensure!(server.asked("notifications/cancelled")?.is_empty());
        drop(stream);
        server.until_given_up(&call).await.with_context(|| format!("{:?}", server.seen()))?;
    }
    Ok(())
}

#[tokio::test]
async fn a_client_that_declared_nothing_is_not_asked_and_the_server_is_told() -> Result<()> {
    let server = Replayed::over_http(&asking(1)).await?;
    let plugway = start(&server).await?;
    let reply = plugway.modern().call("tools/call", call("ask", 1)).await?;
    ensure!(text_of(reply.result()?)? == "1 is done", "{reply:?}");
    let told = server.seen()?;
    let refused = told.iter().filter(|one| one.at(&["error"]).is_some());
    ensure!(refused.count() == 1, "{told:?}");
    Ok(())
}
