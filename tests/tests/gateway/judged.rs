//! What the policy says reaches everybody who needs it: what was counted, why, and of what it does not judge.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use plugway_tests::coder::function;
use plugway_tests::faulty::{self, Faulty};
use plugway_tests::rpc::Client;
use plugway_tests::{Coder, DemoHttp, Guest, Hub, Plugway, Recorder, audit, http as web, wait};
use serde_json::{Value, json};

use super::{BOUND, call, is_blocked, listed, with};

/// A client of each era that answers questions.
async fn asked(plugway: &Plugway) -> Result<[Client; 2]> {
    let answers = || json!({"elicitation": {}});
    let legacy = Client::legacy_with(plugway.address(), "/mcp", answers()).await?;
    Ok([legacy, Client::modern_with(plugway.address(), "/mcp", answers())])
}

/// The response to a request after the person, who is asked with these words, said yes; at once where nobody is asked.
async fn confirmed(client: &Client, method: &str, params: &Value, words: &str) -> Result<Value> {
    let yes = json!({"action": "accept", "content": {"confirmed": true}});
    let says = |question: &Value| {
        let message = question["params"]["message"].as_str().unwrap_or_default();
        ensure!(message.contains(words), "{words}: {message}");
        Ok(())
    };
    if client.session().is_some() {
        let mut events = client.open(method, params.clone()).await?;
        let mut first = events.next(BOUND).await?.context("the stream ended")?;
        if first["method"] == "elicitation/create" {
            says(&first)?;
            client.answer(&first, yes).await?;
            first = events.next(BOUND).await?.context("the stream ended")?;
        }
        return Ok(first);
    }
    let mut response = client.call(method, params.clone()).await?.response()?.clone();
    if response["result"]["resultType"] == "input_required" {
        says(&response["result"]["inputRequests"]["confirmation"])?;
        let mut again = params.clone();
        again["inputResponses"] = json!({"confirmation": yes});
        again["requestState"] = response["result"]["requestState"].clone();
        response = client.call(method, again).await?.response()?.clone();
    }
    Ok(response)
}

fn look() -> Value {
    json!({"name": "up_look", "arguments": {}})
}

#[tokio::test]
async fn what_is_asked_about_and_edited_later_is_counted_once() -> Result<()> {
    let upstream = Recorder::start().await?;
    // The gateway reads arguments, and is asked again after they were changed.
    let never =
        json!({"when": {"argument": {"pointer": "/text", "equals": "never"}}, "do": "deny"});
    let config = json!({"max_calls_per_minute": 2, "confirm": "destructive", "rules": [never]});
    let edit = Guest::new("admit_edit").config(json!({"arguments": {"text": "edited"}}));
    let hub = with(Hub::new("hub").upstream("up", &upstream.url()), config).policy(edit);
    let plugway = hub.start().await?;
    for client in asked(&plugway).await? {
        for number in ["first", "second"] {
            let made =
                confirmed(&client, "tools/call", &look(), "up/look counts as destructive.").await?;
            ensure!(made["result"]["content"][0]["text"] == "edited", "the {number} call: {made}");
        }
        let (text, is_error) = call(&client, "up_look", json!({})).await?;
        ensure!(is_error && text.contains("maximum 2 calls per minute"), "{text}");
    }
    ensure!(upstream.calls().len() == 4);
    Ok(())
}

#[tokio::test]
async fn what_would_have_been_denied_is_told_of_a_confirmed_call() -> Result<()> {
    let upstream = Recorder::start().await?;
    let config = json!({"mode": "observe", "confirm": "destructive", "blocked_tools": ["look"]});
    let hub = with(Hub::new("hub").upstream("up", &upstream.url()), config);
    let plugway = hub.top("audit", json!({"file": audit::FILE})).start().await?;
    for client in asked(&plugway).await? {
        let made = confirmed(&client, "tools/call", &look(), "up/look").await?;
        ensure!(made["result"]["content"][0]["text"] == "seen", "{made}");
    }
    // In either era the call that was asked about has a line, and the one that was confirmed.
    let lines = audit::until(&plugway, "call", 4).await?;
    for verdict in ["asked", "confirmed"] {
        ensure!(lines.iter().filter(|line| line["verdict"] == verdict).count() == 2, "{lines:?}");
    }
    for line in lines {
        let notes = line["notes"].to_string();
        ensure!(notes.matches("would deny: `blocked_tools` names it").count() == 1, "{line}");
    }
    Ok(())
}

#[tokio::test]
async fn policy_explain_names_the_rule_that_asks() -> Result<()> {
    let rule = json!({"name": "careful", "when": {"tool": "add"}, "do": "confirm"});
    let hub = with(Hub::before("http://127.0.0.1:1/mcp"), json!({"rules": [rule]}));
    let call = json!({"tool": "clock_add", "upstream": "clock", "own_name": "add"});
    let setup = hub.setup()?.file("caller.json", "{}").file("call.json", call.to_string());
    let words = ["policy", "explain", "--caller", "caller.json", "--call", "call.json"];
    let output = setup.run(&words).await?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(output.stdout.contains("clock/add needs a confirmation."), "{output:?}");
    ensure!(output.stdout.contains("[careful]"), "{output:?}");
    Ok(())
}

async fn published(plugway: &Plugway) -> Result<BTreeSet<String>> {
    let request = Request::get("/catalog").header("host", plugway.address().to_string());
    let answer = web::send(plugway.address(), request.body(Full::<Bytes>::default())?).await?;
    let catalogue = answer.json()?;
    Ok(names(&catalogue["tools"]))
}

fn names(list: &Value) -> BTreeSet<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|one| Some(one["name"].as_str()?.to_owned())).collect()
}

#[tokio::test]
async fn functions_are_shown_with_the_tool_that_rules_allow() -> Result<()> {
    let functions = [
        function("parse", "Reads a molecule", &[], &[]),
        function("compute", "Computes descriptors", &[], &[]),
    ];
    let chem = Coder::start("chem", &functions).await?;
    let hub = Hub::new("hub")
        .router_config(&json!({"unified_tools": true}))
        .upstream("chem", &chem.url());
    let allowed = json!({"when": {"tool": ["execute_code", "search_tools"]}, "do": "allow"});
    // What `GET /catalog` shows is a resource of the connector, too.
    let resources = json!({"when": {"kind": "resource"}, "do": "allow"});
    for (more, shown) in [
        (json!({}), &["parse", "compute"][..]),
        (json!({"blocked_tools": ["compute"]}), &["parse"]),
        (json!({"rules": []}), &[]),
    ] {
        let mut config = json!({"default": "deny", "rules": [allowed, resources]});
        for (key, value) in more.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        let plugway = with(hub.clone(), config).start().await?;
        let expected: BTreeSet<String> = shown.iter().map(|name| (*name).to_owned()).collect();
        wait::until(&format!("/catalog shows {expected:?}"), BOUND, async || {
            Ok((published(&plugway).await? == expected).then_some(()))
        })
        .await?;
        if shown.is_empty() {
            continue;
        }
        for client in [plugway.legacy().await?, plugway.modern()] {
            let found = call(&client, "search_hub_tools", json!({"query": "", "top": 50})).await?;
            let found: Value = serde_json::from_str(&found.0).with_context(|| found.0.clone())?;
            ensure!(names(&found["tools"]) == expected, "{found}");
            let ran = call(&client, "execute_chem_code", json!({"code": "parse(1)"})).await?;
            ensure!(!ran.1, "{ran:?}");
            let code = json!({"code": "compute(1)"});
            let (text, is_error) = call(&client, "execute_chem_code", code).await?;
            ensure!(is_error != shown.contains(&"compute"), "{text}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_method_that_nobody_knows_is_denied_with_everything_else() -> Result<()> {
    let vendor = Faulty::start(|message, _| {
        let known = message["method"] == "x/vendor";
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"server": "here"}});
        known.then(|| faulty::body(&answer))
    })
    .await?;
    for (mode, default, passes) in
        [("enforce", "deny", false), ("enforce", "allow", true), ("observe", "deny", true)]
    {
        let config = json!({"mode": mode, "default": default, "rules": [{"do": "allow"}]});
        let plugway = with(Hub::new("hub").upstream("up", &vendor.url()), config).start().await?;
        for client in [plugway.legacy().await?, plugway.modern()] {
            let reply = client.call("x/vendor", json!({})).await?;
            let response = reply.response()?;
            let came = response["result"]["server"] == "here";
            ensure!(came == passes, "{mode} {default}: {response}");
            let said = response["error"]["message"].as_str().unwrap_or_default();
            let refused = said.contains("Method 'x/vendor' is blocked by gateway policy.");
            ensure!(refused != passes, "{mode} {default}: {response}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_rule_asks_about_prompts_and_resources_too() -> Result<()> {
    let server = DemoHttp::start_fixture(&[]).await?;
    let rule =
        json!({"when": {"kind": ["prompt", "resource"]}, "do": "confirm", "reason": "Sure?"});
    let hub = with(Hub::new("hub").upstream("up", server.url()), json!({"rules": [rule]}));
    let plugway = hub.start().await?;
    for client in asked(&plugway).await? {
        let prompts = listed(&client, "prompts/list", "prompts", "name").await?;
        let prompt = prompts.iter().find(|name| name.ends_with("test_simple_prompt"));
        let params = json!({"name": prompt.context("it is not listed")?});
        let got = confirmed(&client, "prompts/get", &params, "test_simple_prompt: Sure?").await?;
        ensure!(got["result"]["messages"].is_array(), "{got}");
        let params = json!({"uri": "test://static-text"});
        let read = confirmed(&client, "resources/read", &params, "static-text: Sure?").await?;
        ensure!(read["result"]["contents"].is_array(), "{read}");
    }
    // Nobody is asked about what cannot be confirmed.
    let reference = json!({"type": "ref/prompt", "name": "up_test_simple_prompt"});
    let params = json!({"ref": reference, "argument": {"name": "a", "value": "b"}});
    let refused = plugway.modern().call("completion/complete", params).await?;
    let said = refused.response()?["error"]["message"].as_str().unwrap_or_default();
    ensure!(said.contains("is blocked by gateway policy."), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn a_rule_cannot_be_about_templates_alone() -> Result<()> {
    let rule = json!({"when": {"kind": "template"}, "do": "deny"});
    let hub = with(Hub::before("http://127.0.0.1:1/mcp"), json!({"rules": [rule]}));
    let output = hub.setup()?.run(&["check"]).await?;
    ensure!(!output.status.success(), "{output:?}");
    let said = format!("{}{}", output.stdout, output.stderr);
    ensure!(said.contains("rules[0].when.kind"), "{said}");
    ensure!(said.contains("templates are resources"), "{said}");
    Ok(())
}

#[tokio::test]
async fn two_gateways_in_one_connector_count_for_themselves() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let limits = |calls: u32| json!({"max_calls_per_minute": calls});
    let blocked = json!({"max_calls_per_minute": 3, "blocked_tools": ["now"]});
    let hub = with(with(Hub::before(clock.url()), limits(2)), blocked);
    let plugway = hub.start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        is_blocked(&client, "clock_now", json!({})).await?;
        ensure!(!call(&client, "clock_echo", json!({"message": "hi"})).await?.1);
        let (text, is_error) = call(&client, "clock_echo", json!({"message": "hi"})).await?;
        ensure!(is_error && text.contains("maximum 2 calls per minute"), "{text}");
    }
    Ok(())
}
