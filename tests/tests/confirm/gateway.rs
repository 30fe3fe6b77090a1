//! The bundled policy `gateway` that wants a person to be asked.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Guest, Hub, Plugway, Recorder,
    code_server::CodeServer,
    faulty::{Faulty, Handler, body, good},
    rpc::Client,
    tokens::{ANN, BOB, auth, identified},
};
use serde_json::{Value, json};

use super::{
    BOUND, again, asked, done, ensure_refused, look, modern, question, required, session, text_of,
    yes,
};

/// A server whose tools say different things of themselves, and nothing.
const SAYS: Handler = |message, _| {
    if message["method"] != "tools/list" {
        return Some(good(message));
    }
    let tool = |name: &str, says: Value| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": says});
    let tools = json!([
        {"name": "silent", "inputSchema": {"type": "object"}},
        tool("reads", json!({"readOnlyHint": true})),
        tool("mild", json!({"destructiveHint": false})),
        tool("wild", json!({"readOnlyHint": false, "destructiveHint": true})),
    ]);
    Some(body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}})))
};

/// Both eras, with this client.
async fn both(plugway: &Plugway) -> Result<[Client; 2]> {
    Ok([session(plugway).await?, modern(plugway)])
}

/// What becomes of a call: the question that is asked, if any, and the response after this answer to it.
async fn answered(
    client: &Client,
    params: &Value,
    answer: &Value,
) -> Result<(Option<String>, Value)> {
    let message = |params: &Value| params["message"].as_str().unwrap_or_default().to_owned();
    if client.session().is_none() {
        let reply = client.call("tools/call", params.clone()).await?;
        let Ok((asked, state)) = required(&reply) else {
            return Ok((None, reply.response()?.clone()));
        };
        let reply = client.call("tools/call", again(params, &state, answer)).await?;
        return Ok((Some(message(&asked)), reply.response()?.clone()));
    }
    let (first, stream) = client.begin("tools/call", params.clone()).await?;
    if first["method"] != "elicitation/create" {
        return Ok((None, first));
    }
    let mut stream = stream.context("a question stands on a stream")?;
    client.answer(&first, answer.clone()).await?;
    Ok((Some(message(&first["params"])), done(&mut stream).await?))
}

fn of(tool: &str) -> Value {
    json!({"name": tool, "arguments": {}})
}

/// A line of the question, which is the gateway's.
fn says(question: &str, line: &str) -> bool {
    question.lines().any(|found| found == format!("gateway: {line}"))
}

#[tokio::test]
async fn whatever_a_server_says_of_its_tools_each_is_asked_about() -> Result<()> {
    let server = Faulty::start(SAYS).await?;
    let hub = Hub::new("hub").upstream("up", &server.url());
    let plugway = hub.bundled("gateway", json!({"confirm": "destructive"})).start().await?;
    for client in both(&plugway).await? {
        for tool in ["silent", "reads", "mild", "wild"] {
            let call = of(&format!("up_{tool}"));
            let (question, response) = answered(&client, &call, &yes()).await?;
            let question = question.with_context(|| format!("{tool}: {response}"))?;
            ensure!(says(&question, &format!("up/{tool} counts as destructive.")), "{question}");
            ensure!(text_of(&response)? == "fine", "{response}");
            let no = json!({"action": "decline"});
            ensure_refused(&answered(&client, &call, &no).await?.1, "declined")?;
        }
        // What the connector offers itself only shows things.
        let (question, response) = answered(&client, &of("hub_status"), &yes()).await?;
        ensure!(question.is_none() && response["result"].is_object(), "{response}");
    }
    Ok(())
}

#[tokio::test]
async fn nobody_is_asked_about_what_the_operator_says_is_not_destructive() -> Result<()> {
    let server = Faulty::start(SAYS).await?;
    let hub = Hub::new("hub").upstream("up", &server.url());
    let config = json!({"confirm": "destructive", "not_destructive": ["reads", "up_mi*"]});
    let plugway = hub.bundled("gateway", config).start().await?;
    for client in both(&plugway).await? {
        for (tool, asks) in [("silent", true), ("reads", false), ("mild", false), ("wild", true)] {
            let (question, response) =
                answered(&client, &of(&format!("up_{tool}")), &yes()).await?;
            ensure!(question.is_some() == asks, "{tool}: {question:?}");
            ensure!(text_of(&response)? == "fine", "{response}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_rule_asks_whom_it_is_about_with_its_reason() -> Result<()> {
    let upstream = Recorder::start().await?;
    let rules = json!([
        {"when": {"tool": "look", "not": {"scope": "read"}}, "do": "confirm", "reason": "It costs money."},
        {"when": {"tool": "up_look_events"}, "do": "confirm"},
    ]);
    let hub = Hub::new("hub").upstream("up", &upstream.url());
    let hub = hub.bundled("gateway", json!({"rules": rules})).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    for (token, look, events) in [
        (ANN, None, "up/look_events needs a confirmation."),
        (BOB, Some("up/look: It costs money."), "up/look_events needs a confirmation."),
    ] {
        let address = plugway.address();
        let clients = [
            Client::legacy_with_as(address, "/mcp", asked(), token).await?,
            modern(&plugway).with_token(Some(token)),
        ];
        for client in clients {
            for (tool, line) in [("up_look", look), ("up_look_events", Some(events))] {
                let (question, response) = answered(&client, &of(tool), &yes()).await?;
                ensure!(question.is_some() == line.is_some(), "{token} {tool}: {question:?}");
                if let (Some(question), Some(line)) = (&question, line) {
                    ensure!(says(question, line), "{question}");
                }
                ensure!(text_of(&response)? == "seen", "{response}");
            }
        }
    }
    ensure!(upstream.calls().len() == 8);
    Ok(())
}

#[tokio::test]
async fn a_call_is_charged_before_it_is_asked_about_and_once() -> Result<()> {
    let upstream = Recorder::start().await?;
    let hub = Hub::new("hub").upstream("up", &upstream.url());
    let config = json!({"confirm": "destructive", "max_calls_per_minute": 3});
    let plugway = hub.bundled("gateway", config).start().await?;
    for client in both(&plugway).await? {
        let call = look(&json!({}));
        for answer in [yes(), json!({"action": "decline"}), yes()] {
            let (question, response) = answered(&client, &call, &answer).await?;
            ensure!(question.is_some(), "{response}");
            ensure!((response["result"]["isError"] == true) == (answer != yes()), "{response}");
        }
        // The fourth is refused, and nobody is asked.
        let (question, response) = answered(&client, &call, &yes()).await?;
        ensure!(question.is_none(), "{question:?}");
        ensure!(text_of(&response)?.contains("maximum 3 calls per minute"), "{response}");
    }
    ensure!(upstream.calls().len() == 4);
    Ok(())
}

#[tokio::test]
async fn a_call_for_several_inputs_that_is_edited_and_confirmed_is_charged_once() -> Result<()> {
    let server = CodeServer::start().await?;
    let hub = Hub::new("hub").upstream("lab", &server.url());
    let config = json!({"confirm": "destructive", "max_calls_per_minute": 4});
    let edits = Guest::new("admit_edit").config(json!({"arguments": {"code": "edited"}}));
    let plugway = hub.bundled("gateway", config).policy(edits).start().await?;
    plugway.wait_until_connected(&["lab"]).await?;
    let arguments = json!({"code": "x", "inputs": [{}, {}]});
    let call = json!({"name": "lab_parallel_execute", "arguments": arguments});
    for client in both(&plugway).await? {
        for number in 1..=2 {
            let (question, response) = answered(&client, &call, &yes()).await?;
            let question = question.with_context(|| format!("call {number}: {response}"))?;
            ensure!(question.contains("\"edited\""), "{question}");
            ensure!(text_of(&response)?.contains("batch_id"), "{response}");
        }
        let (question, response) = answered(&client, &call, &yes()).await?;
        ensure!(question.is_none(), "{question:?}");
        ensure!(text_of(&response)?.contains("maximum 4 calls per minute"), "{response}");
    }
    Ok(())
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_refused_anyway() -> Result<()> {
    let upstream = Recorder::start().await?;
    let deny = json!({"when": {"tool": "look"}, "do": "deny"});
    let asks = json!({"when": {"tool": "look"}, "do": "confirm"});
    for config in [
        json!({"confirm": "destructive", "blocked_tools": ["look"]}),
        json!({"confirm": "destructive", "allowed_tools": ["look_events"]}),
        json!({"confirm": "destructive", "rules": [deny.clone(), asks.clone()]}),
        json!({"rules": [asks.clone()], "blocked_tools": ["look"]}),
    ] {
        let hub = Hub::new("hub").upstream("up", &upstream.url());
        let plugway = hub.bundled("gateway", config.clone()).start().await?;
        let dumb = [plugway.legacy().await?, plugway.modern()];
        // Neither who could be asked, nor who could not.
        for client in both(&plugway).await?.iter().chain(&dumb) {
            let (question, response) = answered(client, &look(&json!({})), &yes()).await?;
            ensure!(question.is_none(), "{config}: {question:?}");
            let text = text_of(&response)?;
            ensure!(text.contains("Tool 'up_look' is blocked by gateway policy."), "{text}");
        }
    }
    ensure!(upstream.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn where_rules_are_only_watched_they_ask_nobody_and_destructive_tools_still_do() -> Result<()>
{
    let upstream = Recorder::start().await?;
    let rule = json!({"name": "ask first", "when": {"tool": "look"}, "do": "confirm"});
    for (confirm, asks) in [("off", false), ("destructive", true)] {
        let hub = Hub::new("hub").upstream("up", &upstream.url());
        let config = json!({"mode": "observe", "rules": [rule], "confirm": confirm});
        let plugway = hub.bundled("gateway", config).start().await?;
        for client in both(&plugway).await? {
            let (question, response) = answered(&client, &look(&json!({})), &yes()).await?;
            ensure!(question.is_some() == asks, "{confirm}: {question:?}");
            ensure!(text_of(&response)? == "seen", "{response}");
        }
        if !asks {
            plugway.logged("would ask for confirmation: ask first", BOUND).await?;
        }
    }
    Ok(())
}

/// One question on a stream of its own, which only its own session answers.
#[tokio::test]
async fn the_question_of_a_rule_stands_on_the_stream_of_its_call() -> Result<()> {
    let upstream = Recorder::start().await?;
    let rule =
        json!({"when": {"argument": {"pointer": "/text", "equals": "buy"}}, "do": "confirm"});
    let hub = Hub::new("hub").upstream("up", &upstream.url());
    let plugway = hub.bundled("gateway", json!({"rules": [rule]})).start().await?;
    let client = session(&plugway).await?;
    ensure!(client.call_text("up_look", json!({"text": "look"})).await? == "look");
    let mut stream = client.open("tools/call", look(&json!({"text": "buy"}))).await?;
    let wanted = question(&mut stream).await?;
    ensure!(upstream.calls().len() == 1, "it was called before it was confirmed");
    client.answer(&wanted, yes()).await?;
    ensure!(text_of(&done(&mut stream).await?)? == "buy");
    Ok(())
}
