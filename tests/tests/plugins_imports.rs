//! Every import that the host serves, as the guest `imports_echo` sees it, in both eras.

use anyhow::{Context as _, Result, ensure};
use http::{HeaderName, HeaderValue};
use plugway_tests::{DemoHttp, Guest, Hub, Plugway, http as web, plugway, rpc::Client};
use serde_json::{Value, json};

/// Headers that hold credentials, or stand for them.
const CREDENTIALS: [(&str, &str); 4] = [
    ("authorization", "Bearer secret-token"),
    ("proxy-authorization", "Basic c2VjcmV0"),
    ("cookie", "id=secret"),
    ("last-event-id", "1"),
];

fn echo(grants: Value) -> Guest {
    let asked =
        ["X-Team", "x-other", "authorization", "Proxy-Authorization", "cookie", "mcp-session-id"];
    Guest::new("imports_echo").grants(grants).config(json!({
        "headers": asked,
        "pointers": ["/message", "/deep/0/a", "/nothing", "", "no pointer"],
        "hints": ["readOnlyHint", "noSuchHint"],
        "attributes": ["connector", "era", "protocol-version", "request-id", "no-such-key"],
        "scopes": ["admin"],
        "claims": ["sub"],
    }))
}

/// What the guest saw of one call that carries these headers.
async fn seen(client: &Client, plugway: &Plugway, extra: &[(&str, &str)]) -> Result<Value> {
    let arguments = json!({"message": "hi", "deep": [{"a": 1.50}]});
    let params = json!({"name": "clock_echo", "arguments": arguments});
    let (_, mut request) = client.request("tools/call", params)?;
    for (name, value) in extra {
        let name = HeaderName::try_from(*name)?;
        request.headers_mut().insert(name, HeaderValue::from_str(value)?);
    }
    let answer = web::send(plugway.address(), request).await?.json()?;
    let seen = answer.pointer("/result/structuredContent").filter(|seen| seen.is_object());
    seen.cloned().with_context(|| format!("the guest did not answer: {answer}"))
}

#[tokio::test]
async fn each_import_tells_what_the_contract_says() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway =
        Hub::before(clock.url()).policy(echo(json!({"headers": ["x-team"]}))).start().await?;
    let legacy = plugway.legacy().await?;
    for (client, era, revision) in
        [(&legacy, "legacy", "2025-11-25"), (&plugway.modern(), "modern", "2026-07-28")]
    {
        let seen = seen(client, &plugway, &[("x-team", "blue"), ("x-other", "red")]).await?;
        let call = &seen["call"];
        ensure!(call["from_client"] == true && call["method"] == "tools/call", "{call}");
        ensure!(call["name"] == "clock_echo", "{call}");
        ensure!(call["target"] == json!(["clock", "echo"]), "{call}");
        ensure!(call["headers"]["X-Team"] == "blue", "{call}");
        ensure!(call["headers"]["x-other"].is_null(), "a header that was not granted: {call}");
        let text = call["arguments_json"].as_str().context("no arguments")?;
        ensure!(text == r#"{"message":"hi","deep":[{"a":1.5}]}"#, "{text}");
        ensure!(call["arguments_len"] == text.len(), "{call}");
        ensure!(call["arguments"]["/message"] == r#""hi""#, "{call}");
        ensure!(call["arguments"]["/deep/0/a"] == "1.5", "{call}");
        ensure!(call["arguments"][""] == text, "{call}");
        ensure!(
            call["arguments"]["/nothing"].is_null() && call["arguments"]["no pointer"].is_null()
        );
        // The server says that `echo` only reads; nobody said that the server is to be trusted.
        ensure!(call["hints"]["readOnlyHint"].is_null(), "an untrusted hint: {call}");
        ensure!(call["attempt"] == 0 && call["retry_of"].is_null(), "{call}");
        let attributes = &call["attributes"];
        ensure!(attributes["connector"] == "hub" && attributes["era"] == era, "{attributes}");
        ensure!(attributes["protocol-version"] == revision, "{attributes}");
        ensure!(attributes["request-id"].as_str().is_some_and(|id| id.len() == 16), "{attributes}");
        ensure!(attributes["no-such-key"].is_null(), "{attributes}");
        let caller = &seen["caller"];
        ensure!(caller["anonymous"] == true && caller["display"] == "anonymous", "{caller}");
        ensure!(
            caller["scopes"]["admin"] == false && caller["claims"]["sub"].is_null(),
            "{caller}"
        );
        ensure!(caller["tenant"].is_null() && caller["client"].is_null(), "{caller}");
        ensure!(seen["clock"]["monotonic_us"].as_f64() > Some(0.0), "{seen}");
        ensure!(seen["clock"]["unix_ms"].as_f64() > Some(1.7e12), "{seen}");
        ensure!(seen["random"][0] != seen["random"][1], "twice the same: {seen}");
        ensure!(seen["log"] == json!({"trace": false, "error": true}), "{seen}");
    }
    plugway.logged("imports_echo was asked", std::time::Duration::from_secs(5)).await?;
    Ok(())
}

#[tokio::test]
async fn the_catalogue_is_the_one_that_the_caller_sees() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hide = Guest::new("visibility_by_scope").config(json!({"hide": ["clock_add"]}));
    let plugway = Hub::before(clock.url()).policy(hide).policy(echo(json!({}))).start().await?;
    let client = plugway.legacy().await?;
    let seen = seen(&client, &plugway, &[]).await?;
    let catalogue = &seen["catalogue"];
    let entries = catalogue["entries"].as_array().context("no entries")?;
    ensure!(catalogue["count"] == entries.len(), "{catalogue}");
    let names: Vec<String> = entries
        .iter()
        .filter_map(|entry| serde_json::from_str::<Value>(entry.as_str()?).ok())
        .filter_map(|entry| entry["name"].as_str().map(str::to_owned))
        .collect();
    ensure!(names.iter().any(|name| name == "clock_echo"), "{names:?}");
    ensure!(!names.iter().any(|name| name == "clock_add"), "hidden, and yet there: {names:?}");
    let place = catalogue["place"].as_u64().context("its own call is not in the catalogue")?;
    let own = entries.get(usize::try_from(place)?).and_then(Value::as_str).unwrap_or_default();
    ensure!(own.contains("clock_echo"), "place {place} is {own}");
    ensure!(catalogue["past_the_end"].is_null() && catalogue["document"] == "", "{catalogue}");
    ensure!(catalogue["generation"].as_u64() > Some(0), "{catalogue}");
    Ok(())
}

#[tokio::test]
async fn state_is_kept_for_all_calls_and_apart_for_each_connector() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url()).policy(echo(json!({})));
    let hubs = [hub.clone().named("one"), hub.named("two")];
    let plugway = plugway_tests::hub::setup(&hubs)?.start().await?;
    let one = Client::legacy(plugway.address(), "/one/mcp").await?;
    for turn in 0..3 {
        let state = seen(&one, &plugway, &[]).await?["state"].clone();
        ensure!(state["next"] == turn, "{state}");
        ensure!(state["add"].as_f64() == Some(f64::from(turn) + 1.0), "{state}");
        ensure!(state["set"] == true && state["get"] == "kept", "{state}");
        ensure!(state["compare_and_set"] == true, "{state}");
        ensure!(
            state["compare_and_set_again"] == false && state["swapped"] == "swapped",
            "{state}"
        );
        ensure!(state["removed"].is_null(), "{state}");
        // One token each: the first call takes it, the others are told how long to wait.
        for bucket in ["take", "draw"] {
            ensure!(state[bucket].is_null() == (turn == 0), "{bucket}: {state}");
        }
    }
    let two = Client::legacy(plugway.address(), "/two/mcp").await?;
    let state = seen(&two, &plugway, &[]).await?["state"].clone();
    ensure!(state["next"] == 0 && state["add"].as_f64() == Some(1.0), "shared: {state}");
    Ok(())
}

#[tokio::test]
async fn a_session_is_a_keyed_hash_and_a_stranger_has_none() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(echo(json!({}))).start().await?;
    let (ann, bob) = (plugway.legacy().await?, plugway.legacy().await?);
    let of_ann = seen(&ann, &plugway, &[]).await?;
    let of_bob = seen(&bob, &plugway, &[]).await?;
    let stranger = seen(&plugway.modern(), &plugway, &[]).await?;
    let tag = of_ann["call"]["session"].as_str().context("no session")?;
    ensure!(ann.session().is_some_and(|id| !id.contains(tag) && !tag.contains(id)), "{tag}");
    ensure!(of_ann["call"]["session"] == seen(&ann, &plugway, &[]).await?["call"]["session"]);
    ensure!(of_ann["call"]["session"] != of_bob["call"]["session"]);
    ensure!(of_ann["caller"]["id"] != of_bob["caller"]["id"], "two sessions are one caller");
    ensure!(stranger["call"]["session"].is_null(), "{stranger}");
    Ok(())
}

#[tokio::test]
async fn credentials_are_never_seen_even_when_everything_is_granted() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(echo(json!({"headers": ["*"]}))).start().await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let mut headers = CREDENTIALS.to_vec();
        headers.push(("x-team", "blue"));
        let seen = seen(client, &plugway, &headers).await?;
        ensure!(seen["call"]["headers"]["X-Team"] == "blue", "{seen}");
        for name in ["authorization", "Proxy-Authorization", "cookie", "mcp-session-id"] {
            ensure!(seen["call"]["headers"][name].is_null(), "{name} is read: {seen}");
        }
        ensure!(!seen.to_string().contains("secret"), "{seen}");
    }
    Ok(())
}

#[tokio::test]
async fn a_grant_of_a_credential_is_refused_by_name() -> Result<()> {
    for name in ["Authorization", "proxy-authorization", "Cookie", "Mcp-Session-Id"] {
        let guest = echo(json!({"headers": [name]}));
        let setup = Hub::before("http://127.0.0.1:9/mcp").policy(guest).setup()?;
        let output = setup.check().await?;
        ensure!(!output.status.success(), "{name} was granted");
        ensure!(output.stderr.contains(&name.to_lowercase()), "{name}: {}", output.stderr);
    }
    Ok(())
}

#[tokio::test]
async fn the_call_cannot_be_asked_about_where_there_is_none() -> Result<()> {
    let guest = Guest::new("call_outside");
    let output = Hub::before("http://127.0.0.1:9/mcp").policy(guest).setup()?.check().await?;
    ensure!(!output.status.success(), "the guest was loaded");
    let said: &plugway::Output = &output;
    ensure!(
        said.stderr.contains("call_outside") && said.stderr.contains("configure"),
        "{}",
        said.stderr
    );
    Ok(())
}
