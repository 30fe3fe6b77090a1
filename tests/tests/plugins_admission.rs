//! Admission: what a policy may do with a call before it goes on.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, Recorder, http as web, plugway, rpc::Client};
use serde_json::{Value, json};

fn edit(config: Value) -> Guest {
    Guest::new("admit_edit").config(config)
}

/// Sends exactly this text as `params` of a `tools/call`; the answer's message.
async fn call_raw(plugway: &plugway::Plugway, client: &Client, arguments: &str) -> Result<Value> {
    let placeholder = "\"ARGUMENTS\"";
    let params = json!({"name": "up_look", "arguments": "ARGUMENTS"});
    let (_, request) = client.request("tools/call", params)?;
    let (parts, body) = request.into_parts();
    let body = http_body_util::BodyExt::collect(body).await?.to_bytes();
    let text = String::from_utf8(body.to_vec())?.replace(placeholder, arguments);
    let request = http::Request::from_parts(parts, http_body_util::Full::from(text));
    web::send(plugway.address(), request).await?.json()
}

#[tokio::test]
async fn edited_arguments_reach_the_upstream_and_the_rest_keeps_its_bytes() -> Result<()> {
    let upstream = Recorder::start().await?;
    let patch = json!({"added": {"deep": true}, "removed": null, "text": "edited"});
    let plugway = Hub::new("hub")
        .upstream("up", &upstream.url())
        .policy(edit(json!({"arguments": patch})))
        .start()
        .await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let sent = r#"{ "n": 12345678901234567890123.50, "e":1e2,"text":"as sent", "removed":1, "list" : [1.0,{"k":"\u0041"}] }"#;
        let answer = call_raw(&plugway, client, sent).await?;
        ensure!(answer["result"]["content"][0]["text"] == "edited", "{answer}");
        let came = upstream.last()?.text();
        // What the policy did not touch is there to the byte.
        for kept in
            [r#""n": 12345678901234567890123.50"#, r#""e":1e2"#, r#""list" : [1.0,{"k":"\u0041"}]"#]
        {
            ensure!(came.contains(kept), "{kept}: {came}");
        }
        for edited in [r#""text":"edited""#, r#""added":{"deep":true}"#] {
            ensure!(came.contains(edited), "{edited}: {came}");
        }
        ensure!(!came.contains("removed") && !came.contains("as sent"), "{came}");
    }
    Ok(())
}

#[tokio::test]
async fn a_call_that_nobody_edits_keeps_every_byte_of_its_arguments() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = Hub::new("hub")
        .upstream("up", &upstream.url())
        .policy(edit(json!({"attributes": {"edit/seen": "yes"}})))
        .start()
        .await?;
    let client = plugway.legacy().await?;
    let sent = r#"{ "n": 1.50, "x" : "\u0041" , "e":1E+2}"#;
    call_raw(&plugway, &client, sent).await?;
    let came = upstream.last()?.text();
    ensure!(came.contains(sent), "{came}");
    Ok(())
}

#[tokio::test]
async fn a_header_is_set_only_where_the_operator_granted_its_name() -> Result<()> {
    let upstream = Recorder::start().await?;
    let config = json!({"headers": {"X-Tenant": "blue"}});
    let granted = edit(config.clone()).grants(json!({"set_headers": ["x-tenant"]}));
    let hub = Hub::new("hub").upstream("up", &upstream.url());
    let plugway = hub.clone().policy(granted).start().await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        client.call_text("up_look", json!({})).await?;
        let call = upstream.last()?;
        ensure!(call.headers.get("x-tenant").is_some_and(|value| value == "blue"), "{call:?}");
    }

    let plugway = hub.policy(edit(config)).start().await?;
    let reached = upstream.calls().len();
    let reply = plugway.legacy().await?.call("tools/call", json!({"name": "up_look"})).await?;
    ensure!(reply.error_code()? == -32603, "{reply:?}");
    ensure!(upstream.calls().len() == reached, "the call went on without a decision");
    plugway.logged("X-Tenant", std::time::Duration::from_secs(5)).await?;
    Ok(())
}

#[tokio::test]
async fn an_attribute_is_seen_by_later_policies_alone() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let sets = edit(json!({"attributes": {"edit/team": "blue"}}));
    let reads =
        || Guest::new("imports_echo").config(json!({"attributes": ["edit/team", "connector"]}));
    let plugway = Hub::before(clock.url()).policy(sets.clone()).policy(reads()).start().await?;
    let seen = plugway.legacy().await?.call_tool("clock_now", json!({})).await?;
    let attributes = &seen["structuredContent"]["call"]["attributes"];
    ensure!(*attributes == json!({"edit/team": "blue", "connector": "hub"}), "{attributes}");

    let plugway = Hub::before(clock.url()).policy(reads()).policy(sets).start().await?;
    let seen = plugway.legacy().await?.call_tool("clock_now", json!({})).await?;
    let attributes = &seen["structuredContent"]["call"]["attributes"];
    ensure!(attributes["edit/team"].is_null(), "{attributes}");
    Ok(())
}

#[tokio::test]
async fn what_the_host_says_of_a_call_no_policy_can_say() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    for key in ["connector", "request-id", "era", "protocol-version"] {
        let sets = edit(json!({"attributes": {key: "forged"}}));
        let plugway = Hub::before(clock.url()).policy(sets).start().await?;
        let params = json!({"name": "clock_now", "arguments": {}});
        let reply = plugway.legacy().await?.call("tools/call", params).await?;
        ensure!(reply.error_code()? == -32603, "{key}: {reply:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_earlier_policy_that_reads_arguments_judges_the_edited_ones() -> Result<()> {
    let upstream = Recorder::start().await?;
    // The second policy sets what the first one traps on, so the first must be asked again.
    let plugway = Hub::new("hub")
        .upstream("up", &upstream.url())
        .policy(Guest::new("traps_on_argument"))
        .policy(edit(json!({"arguments": {"boom": true}})))
        .start()
        .await?;
    let reply = plugway
        .legacy()
        .await?
        .call("tools/call", json!({"name": "up_look", "arguments": {}}))
        .await?;
    ensure!(reply.error_code()? == -32603, "{reply:?}");
    ensure!(upstream.calls().is_empty(), "arguments that nobody judged reached the upstream");
    Ok(())
}

#[tokio::test]
async fn two_policies_may_both_edit_arguments() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = Hub::new("hub")
        .upstream("up", &upstream.url())
        .policy(edit(json!({"arguments": {"a": 1, "both": "first"}})))
        .policy(edit(json!({"arguments": {"b": 2}})).named("second"))
        .start()
        .await?;
    let text = plugway.legacy().await?.call_text("up_look", json!({"text": "hello"})).await?;
    ensure!(text == "hello", "{text}");
    let came = upstream.last()?.text();
    ensure!(came.contains(r#"{"text":"hello","a":1,"both":"first","b":2}"#), "{came}");
    Ok(())
}

#[tokio::test]
async fn a_policy_that_does_not_read_arguments_is_asked_once() -> Result<()> {
    let upstream = Recorder::start().await?;
    let rate = Guest::new("admit_rate").config(json!({"limit": 2, "window_ms": 600_000}));
    let plugway = Hub::new("hub")
        .upstream("up", &upstream.url())
        .policy(rate)
        .policy(edit(json!({"arguments": {"a": 1}})))
        .start()
        .await?;
    let client = plugway.legacy().await?;
    for turn in 0..2 {
        let result = client.call_tool("up_look", json!({})).await?;
        ensure!(result["isError"].is_null(), "call {turn} was charged twice: {result}");
    }
    ensure!(client.call_tool("up_look", json!({})).await?["isError"] == true);
    Ok(())
}

#[tokio::test]
async fn a_refusal_is_a_result_that_the_agent_reads() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let config = json!({"message": "Ask Ann first.", "retry_after_ms": 2500});
    let plugway =
        Hub::before(clock.url()).policy(Guest::new("admit_reject").config(config)).start().await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let params = json!({"name": "clock_now", "arguments": {}});
        let reply = client.call("tools/call", params).await?;
        let result = reply.result()?;
        ensure!(result["isError"] == true, "{result}");
        ensure!(result["content"][0]["text"] == "Ask Ann first.", "{result}");
        ensure!(
            !reply.text.contains("admit_reject"),
            "the plugin's name is the operator's: {}",
            reply.text
        );
        let wait: u32 = reply.header("retry-after").context("no Retry-After")?.parse()?;
        ensure!((2..=3).contains(&wait), "Retry-After: {wait}");
        // A prompt has no result that says `isError`.
        let params = json!({"name": "clock_ask_time", "arguments": {"zone": "utc"}});
        let reply = client.call("prompts/get", params).await?;
        ensure!(reply.error_code()? == -32603, "{reply:?}");
        ensure!(reply.response()?["error"]["message"] == "Ask Ann first.", "{reply:?}");
        let reply = client.call("resources/read", json!({"uri": "clock://zones"})).await?;
        ensure!(reply.error_code()? == -32603, "{reply:?}");
    }
    ensure!(clock.count("tools/call").await? == 0, "a refused call reached the upstream");
    Ok(())
}

#[tokio::test]
async fn a_refusal_with_a_code_is_an_error_of_that_code() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let config =
        json!({"message": "never shown", "code": -32042, "body": "The form that was agreed on."});
    let plugway =
        Hub::before(clock.url()).policy(Guest::new("admit_reject").config(config)).start().await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        for (method, params) in [
            ("tools/call", json!({"name": "clock_now", "arguments": {}})),
            ("prompts/get", json!({"name": "clock_ask_time", "arguments": {"zone": "utc"}})),
        ] {
            let reply = client.call(method, params).await?;
            ensure!(reply.error_code()? == -32042, "{method}: {reply:?}");
            let message = &reply.response()?["error"]["message"];
            ensure!(message == "The form that was agreed on.", "{method}: {message}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_of_a_policy_passes_review() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url())
        .policy(Guest::new("review_replace").config(json!({"from": "secret", "to": "******"})))
        .policy(Guest::new("admit_answer").config(json!({"text": "the secret word"})))
        .start()
        .await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let text = client.call_text("clock_now", json!({})).await?;
        ensure!(text == "the ****** word", "{text}");
    }
    ensure!(clock.count("tools/call").await? == 0, "an answered call reached the upstream");
    Ok(())
}

#[tokio::test]
async fn a_rate_is_counted_for_each_caller() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let rate = Guest::new("admit_rate").config(json!({"limit": 3, "window_ms": 600_000}));
    let counts = Guest::new("imports_echo").config(json!({"attributes": ["admit_rate/calls"]}));
    let plugway = Hub::before(clock.url()).policy(rate).policy(counts).start().await?;
    let (ann, bob) = (plugway.legacy().await?, plugway.legacy().await?);
    for turn in 1..=3 {
        let seen = ann.call_tool("clock_now", json!({})).await?;
        let count = &seen["structuredContent"]["call"]["attributes"]["admit_rate/calls"];
        ensure!(*count == *format!("{turn}"), "{count} after {turn}");
    }
    let params = json!({"name": "clock_now", "arguments": {}});
    let reply = ann.call("tools/call", params).await?;
    ensure!(reply.result()?["isError"] == true, "{reply:?}");
    ensure!(reply.header("retry-after").is_some(), "no Retry-After: {reply:?}");
    let seen = bob.call_tool("clock_now", json!({})).await?;
    ensure!(seen["isError"].is_null(), "one caller used up another's calls: {seen}");
    Ok(())
}

#[tokio::test]
async fn a_policy_that_says_it_cannot_decide_is_followed_by_the_operators_word() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let params = json!({"name": "clock_now", "arguments": {}});
    let plugway = Hub::before(clock.url()).policy(Guest::new("admit_fails")).start().await?;
    let reply = plugway.legacy().await?.call("tools/call", params.clone()).await?;
    ensure!(reply.error_code()? == -32603, "{reply:?}");
    ensure!(!reply.text.contains("moon"), "the plugin's words are the operator's: {}", reply.text);
    let line =
        plugway.logged("the moon is in the wrong place", std::time::Duration::from_secs(5)).await?;
    ensure!(line.contains("admit_fails"), "{line}");

    let passing = Guest::new("admit_fails").passing();
    let plugway = Hub::before(clock.url()).policy(passing).start().await?;
    let result = plugway.legacy().await?.call("tools/call", params).await?;
    ensure!(result.result()?["isError"] != true, "{result:?}");
    Ok(())
}
