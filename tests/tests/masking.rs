//! The bundled `masking`: what servers send reaches clients without what is to be masked, in whatever form it comes.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway, Recorder,
    asking::{accepted, elicitation, outcome, over_http},
    faulty::{Faulty, Handler, Raw, body, good},
    plugway::Setup,
    rpc::Client,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
/// More than a review looks at, and less.
const LARGE: u64 = 1_200_000;
const FITTING: u64 = 1_000_000;

/// A connector before this server, which is called `up`. The time is for machines that have other things to do.
#[expect(clippy::needless_pass_by_value, reason = "it is written in place")]
fn setup(url: &str, config: Value) -> Setup {
    let configuration = json!({
        "name": "hub",
        "plugins": {"masking": {"limits": {"time_ms": 20_000}}},
        "policies": [{"use": "masking", "config": config}],
        "upstreams": [{"name": "up", "url": url, "server_requests": ["elicitation", "sampling", "roots"]}],
    });
    Setup::new(configuration.to_string())
}

async fn start(url: &str, config: Value) -> Result<Plugway> {
    let plugway = setup(url, config).start().await?;
    plugway.wait_until_connected(&["up"]).await?;
    Ok(plugway)
}

/// The ways in which a server answers: as JSON of a told and of an untold length, and as an event stream.
fn forms(text: &str) -> [(&'static str, Value); 3] {
    [
        ("up_look", json!({"text": text})),
        ("up_look", json!({"text": text, "chunked": true})),
        ("up_look_events", json!({"text": text})),
    ]
}

#[tokio::test]
async fn answers_in_every_form_and_era_are_masked() -> Result<()> {
    for upstream in [Recorder::start().await?, Recorder::modern().await?] {
        let plugway = start(&upstream.url(), json!({})).await?;
        let legacy = plugway.legacy().await?;
        for client in [&legacy, &plugway.modern()] {
            for (tool, arguments) in forms("mail ann@example.com, card 4111 1111 1111 1111.") {
                let text = client.call_text(tool, arguments).await?;
                ensure!(text == "mail [masked email], card [masked card].", "{tool}: {text}");
            }
            for (tool, arguments) in forms("order 2024-00018273") {
                ensure!(client.call_text(tool, arguments).await? == "order 2024-00018273");
            }
        }
        // What clients send is theirs.
        ensure!(upstream.calls().iter().any(|call| call.text().contains("ann@example.com")));
    }
    Ok(())
}

/// A response with this result.
#[expect(clippy::unnecessary_wraps, reason = "an answer of the double may be none")]
fn result(message: &Value, result: &Value) -> Option<Raw> {
    Some(body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}

/// A server that says the same in every way there is.
const TALKATIVE: Handler = |message: &Value, _| {
    let secret = "ann@example.com";
    let text = json!({"type": "text", "text": secret});
    match message["method"].as_str()? {
        "initialize" => {
            let (status, media, header, text) = good(message);
            let all = r#""capabilities":{"prompts":{},"resources":{},"tools":{}}"#;
            Some((status, media, header, text.replace(r#""capabilities":{"tools":{}}"#, all)))
        }
        "tools/list" => {
            let names = ["structured", "resource", "fails", "breaks", "progress"];
            let tools = names.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
            result(message, &json!({"tools": tools}))
        }
        "prompts/list" => result(message, &json!({"prompts": [{"name": "ask"}]})),
        "prompts/get" => result(message, &json!({"messages": [{"role": "user", "content": text}]})),
        "resources/list" => {
            result(message, &json!({"resources": [{"uri": "note:1", "name": "note"}]}))
        }
        "resources/read" => {
            result(message, &json!({"contents": [{"uri": "note:1", "text": secret}]}))
        }
        "tools/call" => {
            match message["params"]["name"].as_str()? {
                "structured" => {
                    let inner = json!({"who": [{"mail": secret}], secret: 1.50, "card": 4_111_111_111_111_111_u64});
                    result(message, &json!({"content": [text], "structuredContent": inner}))
                }
                "resource" => {
                    let blob = "YW5uQGV4YW1wbGUuY29t";
                    let inner = json!({"uri": "note:1", "mimeType": "text/plain", "blob": blob});
                    result(message, &json!({"content": [{"type": "resource", "resource": inner}]}))
                }
                "fails" => result(message, &json!({"content": [text], "isError": true})),
                "breaks" => {
                    let error = json!({"code": -32_050, "message": secret, "data": {"who": secret, "n": 7}});
                    Some(body(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error})))
                }
                _ => {
                    let progress = json!({"progressToken": message["params"]["_meta"]["progressToken"], "progress": 1, "message": secret});
                    let told = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress});
                    let done = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": [text]}});
                    let events = format!("data: {told}\n\ndata: {done}\n\n");
                    Some((200, "text/event-stream", None, events))
                }
            }
        }
        _ => None,
    }
};

#[tokio::test]
async fn everything_that_a_server_answers_is_masked() -> Result<()> {
    let upstream = Faulty::start(TALKATIVE).await?;
    let plugway = start(&upstream.url(), json!({})).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let found = client.call_tool("up_structured", json!({})).await?;
        ensure!(found["content"][0]["text"] == "[masked email]", "{found}");
        let inner = &found["structuredContent"];
        let wanted = json!({"who": [{"mail": "[masked email]"}], "[masked email]": 1.5, "card": "[masked card]"});
        ensure!(*inner == wanted, "{inner}");
        let found = client.call_tool("up_resource", json!({})).await?;
        ensure!(found["content"][0]["resource"]["blob"] == "W21hc2tlZCBlbWFpbF0=", "{found}");
        let found = client.call_tool("up_fails", json!({})).await?;
        ensure!(
            found["isError"] == true && found["content"][0]["text"] == "[masked email]",
            "{found}"
        );
        let prompt = client.call("prompts/get", json!({"name": "up_ask"})).await?;
        let text = &prompt.result()?["messages"][0]["content"]["text"];
        ensure!(text == "[masked email]", "{}", prompt.text);
        let note = client.call("resources/read", json!({"uri": "note:1"})).await?;
        ensure!(note.result()?["contents"][0]["text"] == "[masked email]", "{}", note.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_error_stays_one_and_is_masked() -> Result<()> {
    let upstream = Faulty::start(TALKATIVE).await?;
    let plugway = start(&upstream.url(), json!({})).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let reply =
            client.call("tools/call", json!({"name": "up_breaks", "arguments": {}})).await?;
        let wanted = json!({
            "code": -32_050, "message": "[masked email]", "data": {"who": "[masked email]", "n": 7},
        });
        ensure!(reply.response()?["error"] == wanted, "{}", reply.text);
    }
    Ok(())
}

#[tokio::test]
async fn what_comes_before_an_answer_is_masked() -> Result<()> {
    let upstream = Faulty::start(TALKATIVE).await?;
    let plugway = start(&upstream.url(), json!({})).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let params =
            json!({"name": "up_progress", "arguments": {}, "_meta": {"progressToken": "p"}});
        let reply = client.call("tools/call", params).await?;
        ensure!(reply.messages.len() == 2, "{}", reply.text);
        let told = &reply.messages[0]["params"];
        ensure!(told["message"] == "[masked email]" && told["progressToken"] == "p", "{told}");
        ensure!(reply.result()?["content"][0]["text"] == "[masked email]", "{}", reply.text);
    }
    Ok(())
}

fn capabilities() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

#[tokio::test]
async fn questions_of_servers_are_masked_in_both_eras() -> Result<()> {
    let web = over_http().await?;
    let plugway = start(web.url(), json!({})).await?;
    let asks = elicitation("Is it ann@example.com?");
    let client = Client::legacy_with(plugway.address(), "/mcp", capabilities()).await?;
    let call = json!({"name": "up_ask", "arguments": asks});
    let mut stream = client.open("tools/call", call).await?;
    let asked = stream.next(BOUND).await?.context("the stream ended")?;
    ensure!(asked["params"]["message"] == "[up] Is it [masked email]?", "{asked}");
    client.answer(&asked, accepted("yes")).await?;
    let last = stream.next(BOUND).await?.context("the stream ended")?;
    let got = outcome(&last["result"])?;
    ensure!(got["result"]["content"]["word"] == "yes", "{got}");
    let client = Client::modern_with(plugway.address(), "/mcp", capabilities());
    let call = json!({"name": "up_require", "arguments": asks});
    let asked = client.call("tools/call", call).await?;
    let question = &asked.result()?["inputRequests"]["it"]["params"];
    ensure!(question["message"] == "[up] Is it [masked email]?", "{question}");
    Ok(())
}

#[tokio::test]
async fn what_is_to_be_refused_leaves_nothing_behind() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = start(&upstream.url(), json!({"action": "refuse", "detect": ["email"]})).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        for (tool, arguments) in forms("mail ann@example.com") {
            let result = client.call_tool(tool, arguments).await?;
            let text = result["content"][0]["text"].as_str().context("no text")?;
            let wanted =
                "The answer holds what may not leave this server (email), and was held back.";
            ensure!(result["isError"] == true && text == wanted, "{tool}: {result}");
        }
        for (tool, arguments) in forms("card 4111111111111111") {
            ensure!(client.call_text(tool, arguments).await? == "card 4111111111111111");
        }
    }
    ensure!(!plugway.stderr().join("\n").contains("ann@example.com"), "it is in the log");
    Ok(())
}

#[tokio::test]
async fn a_refused_question_goes_back_to_its_server() -> Result<()> {
    let web = over_http().await?;
    let plugway = start(web.url(), json!({"action": "refuse"})).await?;
    let client = Client::legacy_with(plugway.address(), "/mcp", capabilities()).await?;
    let result = client.call_tool("up_ask", elicitation("Is it ann@example.com?")).await?;
    let got = outcome(&result)?;
    let said = got["error"]["message"].as_str().context("no error")?;
    ensure!(said.contains("may not leave this server (email)"), "{got}");
    Ok(())
}

#[tokio::test]
async fn what_is_too_large_to_be_looked_at_is_refused() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = start(&upstream.url(), json!({})).await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        for (tool, mut arguments) in forms("") {
            arguments["bytes"] = json!(LARGE);
            let refused = client.call_tool(tool, arguments.clone()).await?;
            let text = refused["content"][0]["text"].as_str().context("no text")?;
            ensure!(refused["isError"] == true && text.contains("1048576"), "{tool}: {text}");
            arguments["bytes"] = json!(FITTING);
            let text = client.call_text(tool, arguments).await?;
            ensure!(u64::try_from(text.len())? == FITTING, "{tool}: {}", text.len());
        }
    }
    Ok(())
}

#[tokio::test]
async fn only_what_is_named_is_masked_and_what_is_allowed_stays() -> Result<()> {
    let upstream = Recorder::start().await?;
    let config =
        json!({"allow": ["*@corp.example"], "only": {"tools": ["*_events"]}, "replace": "***"});
    let plugway = start(&upstream.url(), config).await?;
    let client = plugway.legacy().await?;
    let said = "ann@corp.example bob@example.com";
    let ask = json!({ "text": said });
    ensure!(client.call_text("up_look", ask.clone()).await? == said);
    let text = client.call_text("up_look_events", ask).await?;
    ensure!(text == "ann@corp.example ***", "{text}");
    Ok(())
}

#[tokio::test]
async fn a_configuration_that_would_not_mask_is_refused() -> Result<()> {
    let output = setup("http://127.0.0.1:1/mcp", json!({"detect": ["mail"]})).check().await?;
    ensure!(!output.status.success(), "{output:?}");
    ensure!(output.stderr.contains("detect[0]: is `mail`, but can only be"), "{}", output.stderr);
    let output = setup("http://127.0.0.1:1/mcp", json!({})).check().await?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(output.stdout.contains("loaded masking: policy plugway-masking"), "{}", output.stdout);
    Ok(())
}
