//! Policies that judge what servers send toward clients: in a call, on the session's own stream, in a result that asks for
//! input, over HTTP and over stdio.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Guest, Notices, Pipe, Plugway, Scripted,
    asking::{accepted, elicitation, outcome, over_http},
    binary,
    plugway::Setup,
    rpc::{Client, Events, LEGACY},
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// A server over HTTP, called `web`, and the same one as a child, called `kid`, behind a policy with these rules.
async fn asking(entry: Value) -> Result<(DemoHttp, Setup)> {
    let web = over_http().await?;
    let all = ["elicitation", "sampling", "roots"];
    let child = binary::find("asking-server")?;
    let upstreams = json!([
        {"name": "web", "url": web.url(), "server_requests": all},
        {"name": "kid", "command": child, "args": ["--stdio"], "server_requests": all},
    ]);
    Ok((web, judged(entry, &upstreams)?))
}

fn judged(mut entry: Value, upstreams: &Value) -> Result<Setup> {
    let guest = Guest::new("inbound_by_method");
    entry["file"] = guest.file().into();
    entry["limits"] = json!({"time_ms": 2_000});
    let configuration = json!({
        "name": "hub", "plugins": {"judge": entry}, "policies": ["judge"], "upstreams": upstreams,
    });
    Ok(Setup::new(configuration.to_string()).file(&guest.file(), guest.bytes()?))
}

async fn started(setup: Setup) -> Result<(Plugway, Client)> {
    let plugway = setup.start().await?;
    plugway.wait_until_connected(&["web", "kid"]).await?;
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    let client = Client::legacy_with(plugway.address(), "/mcp", capabilities).await?;
    Ok((plugway, client))
}

fn call(name: &str, asks: &Value) -> Value {
    json!({"name": name, "arguments": asks})
}

fn sampling() -> Value {
    let content = json!({"type": "text", "text": "Say hi"});
    let messages = json!([{"role": "user", "content": content}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 5}})
}

async fn next(events: &mut Events) -> Result<Value> {
    events.next(BOUND).await?.context("the stream ended")
}

/// The last message of the call, and what the tool gave.
async fn done(events: &mut Events) -> Result<Value> {
    let response = next(events).await?;
    outcome(response.get("result").with_context(|| format!("no result: {response}"))?)
}

/// What the policy puts in place of a question, and its text.
fn other_question() -> (Value, String) {
    let params =
        json!({"message": "Judged", "requestedSchema": {"type": "object", "properties": {}}});
    (params.clone(), params.to_string())
}

#[tokio::test]
async fn a_question_in_a_call_reaches_the_client_as_the_policy_left_it() -> Result<()> {
    let (params, text) = other_question();
    let rules = json!({"config": {"elicitation/create": {"replace": text}}});
    let (_web, setup) = asking(rules).await?;
    let (_plugway, client) = started(setup).await?;
    for server in ["web", "kid"] {
        let asks = elicitation("Which word?");
        let mut stream = client.open("tools/call", call(&format!("{server}_ask"), &asks)).await?;
        let asked = next(&mut stream).await?;
        ensure!(asked["params"] == params, "{server}: {asked}");
        client.answer(&asked, accepted("yes")).await?;
        let got = done(&mut stream).await?;
        ensure!(got["result"]["content"]["word"] == "yes", "{server}: {got}");
    }
    Ok(())
}

#[tokio::test]
async fn a_policy_is_told_of_the_message_and_its_server() -> Result<()> {
    let (_web, setup) = asking(json!({"config": {"elicitation/create": "tell"}})).await?;
    let (_plugway, client) = started(setup).await?;
    for server in ["web", "kid"] {
        let asks = elicitation("Which word?");
        let mut stream = client.open("tools/call", call(&format!("{server}_ask"), &asks)).await?;
        let asked = next(&mut stream).await?;
        let told = &asked["params"];
        ensure!(told["from_upstream"] == true && told["method"] == "elicitation/create", "{told}");
        ensure!(told["name"] == "" && told["target"] == json!([server, ""]), "{told}");
        ensure!(told["message"] == format!("\"[{server}] Which word?\""), "{told}");
        ensure!(told["era"] == "legacy" && told["session"].is_string(), "{told}");
        let session = client.session().context("no session")?;
        ensure!(!told.to_string().contains(session), "the session's id is shown: {told}");
        client.answer(&asked, accepted("yes")).await?;
        done(&mut stream).await?;
    }
    Ok(())
}

#[tokio::test]
async fn what_is_refused_goes_back_to_the_server_and_the_client_hears_nothing() -> Result<()> {
    let sentence = "The folders are nobody's business.";
    let rules = json!({"config": {
        "roots/list": {"reject": sentence},
        "elicitation/create": "trap",
        "sampling/createMessage": "fail",
    }});
    let (_web, setup) = asking(rules).await?;
    let (plugway, client) = started(setup).await?;
    for server in ["web", "kid"] {
        let tool = format!("{server}_ask");
        for (asks, said) in [
            (json!({"method": "roots/list"}), sentence),
            (elicitation("?"), "crashed"),
            (sampling(), "could not decide"),
        ] {
            let reply = client.call("tools/call", call(&tool, &asks)).await?;
            ensure!(reply.messages.len() == 1, "the client was asked: {}", reply.text);
            let error = outcome(reply.result()?)?["error"].clone();
            let message = error["message"].as_str().unwrap_or_default();
            ensure!(error["code"] == -32603 && message.contains(said), "{server}: {error}");
        }
    }
    plugway.logged("the plugin gave no decision", BOUND).await?;
    Ok(())
}

#[tokio::test]
async fn a_policy_that_fails_lets_pass_where_the_operator_says_so() -> Result<()> {
    let rules = json!({"on_error": "pass", "config": {"elicitation/create": "trap"}});
    let (_web, setup) = asking(rules).await?;
    let (_plugway, client) = started(setup).await?;
    let mut stream = client.open("tools/call", call("web_ask", &elicitation("Still?"))).await?;
    let asked = next(&mut stream).await?;
    ensure!(asked["params"]["message"] == "[web] Still?", "{asked}");
    client.answer(&asked, accepted("yes")).await?;
    ensure!(done(&mut stream).await?["result"]["content"]["word"] == "yes");
    Ok(())
}

#[tokio::test]
async fn what_comes_on_the_sessions_own_stream_is_judged_too() -> Result<()> {
    let (params, text) = other_question();
    let rules = json!({"config": {
        "elicitation/create": {"replace": text}, "sampling/createMessage": {"reject": "No."},
    }});
    let (_web, setup) = asking(rules).await?;
    let (_plugway, client) = started(setup).await?;
    let listened = Notices::of(&client).await?;
    client.call_tool("web_ask_later", sampling()).await?;
    client.call_tool("web_ask_later", elicitation("Which word?")).await?;
    let asked = wait::until("the question", BOUND, async || {
        Ok(listened.all().into_iter().find(|one| one["method"] == "elicitation/create"))
    })
    .await?;
    ensure!(asked["params"] == params, "{asked}");
    client.answer(&asked, accepted("yes")).await?;
    let got = wait::until("both answers", BOUND, async || {
        let all = outcome(&client.call_tool("web_outcomes", json!({})).await?)?;
        Ok(all.as_array().filter(|all| all.len() == 2).cloned())
    })
    .await?;
    ensure!(got.iter().any(|one| one["error"]["message"] == "No."), "{got:?}");
    ensure!(got.iter().any(|one| one["result"]["content"]["word"] == "yes"), "{got:?}");
    let sampled = |one: &Value| one["method"] == "sampling/createMessage";
    ensure!(!listened.all().iter().any(sampled), "{:?}", listened.all());
    Ok(())
}

#[tokio::test]
async fn an_open_stream_is_judged_by_the_policies_of_today() -> Result<()> {
    let (params, text) = other_question();
    let (_web, setup) = asking(json!({"config": {}})).await?;
    let (plugway, client) = started(setup).await?;
    let listened = Notices::of(&client).await?;
    let asked = async |word: &'static str| {
        client.call_tool("web_ask_later", elicitation(word)).await?;
        wait::until("the question", BOUND, async || {
            let all = listened.all();
            Ok(all.into_iter().rfind(|one| one["method"] == "elicitation/create"))
        })
        .await
    };
    let before = asked("Which word?").await?;
    ensure!(before["params"]["message"] == "[web] Which word?", "{before}");
    let file = std::fs::read_to_string(plugway.folder().join("plugway.yaml"))?;
    let mut now: Value = serde_json::from_str(&file)?;
    now["plugins"]["judge"]["config"] = json!({"elicitation/create": {"replace": text}});
    plugway.reconfigure(&now.to_string())?;
    plugway.logged("configuration applied", BOUND).await?;
    client.call_tool("web_ask_later", elicitation("Which one now?")).await?;
    wait::until("a judged question", BOUND, async || {
        Ok(listened.all().iter().any(|one| one["params"] == params).then_some(()))
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn notifications_of_a_call_are_judged_and_dropped() -> Result<()> {
    let upstream = Scripted::start().await?;
    let upstreams = json!([{"name": "web", "url": upstream.url()}]);
    for (rules, expected) in [
        (json!({}), 3),
        (json!({"notifications/progress": {"reject": "Quiet."}}), 1),
        (json!({"notifications/progress": "trap"}), 1),
    ] {
        let plugway = judged(json!({"config": rules}), &upstreams)?.start().await?;
        let client = plugway.legacy().await?;
        upstream.release();
        let params = json!({
            "name": "web_steps", "arguments": {"steps": 2}, "_meta": {"progressToken": "p"},
        });
        let reply = client.call("tools/call", params).await?;
        ensure!(reply.messages.len() == expected, "{rules}: {}", reply.text);
        ensure!(reply.result()?["content"][0]["text"] == "done", "{}", reply.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_result_that_asks_for_input_is_judged() -> Result<()> {
    let (params, text) = other_question();
    let rules = json!({"config": {
        "elicitation/create": {"replace": text}, "roots/list": {"reject": "No folders."},
    }});
    let (_web, setup) = asking(rules).await?;
    let plugway = setup.start().await?;
    plugway.wait_until_connected(&["web", "kid"]).await?;
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    let client = Client::modern_with(plugway.address(), "/mcp", capabilities);
    for server in ["web", "kid"] {
        let tool = format!("{server}_require");
        let mut asks = call(&tool, &elicitation("Which word?"));
        let asked = client.call("tools/call", asks.clone()).await?;
        ensure!(asked.result()?["resultType"] == "input_required", "{}", asked.text);
        let question = &asked.result()?["inputRequests"]["it"]["params"];
        ensure!(question["message"] == format!("[{server}] Judged"), "{question}");
        ensure!(question["requestedSchema"] == params["requestedSchema"], "{question}");
        asks["inputResponses"] = json!({"it": accepted("yes")});
        let answered = client.call("tools/call", asks).await?;
        let got = outcome(answered.result()?)?;
        ensure!(got["it"]["content"]["word"] == "yes", "{got}");

        let roots = call(&tool, &json!({"method": "roots/list", "params": {}}));
        let refused = client.call("tools/call", roots).await?;
        ensure!(refused.text.contains("No folders."), "{}", refused.text);
        ensure!(!refused.text.contains("inputRequests"), "{}", refused.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_client_over_stdio_gets_what_the_policy_left() -> Result<()> {
    let (params, text) = other_question();
    let rules = json!({"config": {
        "elicitation/create": {"replace": text}, "roots/list": {"reject": "No folders."},
    }});
    let (_web, setup) = asking(rules).await?;
    let mut pipe = Pipe::of(setup, &[])?;
    pipe.initialize_with(LEGACY, json!({"elicitation": {}, "roots": {}})).await?;
    for server in ["web", "kid"] {
        let tool = format!("{server}_ask");
        let roots = call(&tool, &json!({"method": "roots/list"}));
        let got = outcome(&pipe.call("tools/call", roots).await?["result"])?;
        ensure!(got["error"]["message"] == "No folders.", "{server}: {got}");
        let asks = call(&tool, &elicitation("Which word?"));
        let id = pipe.ask("tools/call", asks).await?;
        let asked = loop {
            let message = pipe.read().await?.context("the output ended")?;
            ensure!(message["method"] != "roots/list", "{message}");
            if message["method"] == "elicitation/create" {
                break message;
            }
        };
        ensure!(asked["params"] == params, "{server}: {asked}");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted("yes")});
        pipe.send(&answer).await?;
        let got = outcome(&pipe.response(&id).await?["result"])?;
        ensure!(got["result"]["content"]["word"] == "yes", "{server}: {got}");
    }
    Ok(())
}
