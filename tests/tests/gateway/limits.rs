//! Limits: exact, whoever calls at once.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use plugway_tests::{
    DemoHttp, Hub, Plugway,
    code_server::CodeServer,
    replay::Replayed,
    rpc::Client,
    tokens::{ANN, ANN_TOO, BOB, EVE, auth, identified},
};
use serde_json::{Map, Value, json};

use super::{BOUND, call, with};

/// As many callers as call at once.
const CALLERS: usize = 64;
/// Everything that these tests send must be over before the first charge leaves its window.
const MINUTE: std::time::Duration = std::time::Duration::from_mins(1);

fn token(number: usize) -> String {
    format!("caller-{number:04}-0123456789")
}

async fn identifying(hub: Hub, config: Value) -> Result<Plugway> {
    let tokens: Map<String, Value> = (0..CALLERS)
        .map(|number| (token(number), json!({"client_id": format!("caller-{number}")})))
        .collect();
    let setup = with(hub, config).top("auth", auth()).setup()?;
    identified(setup, &Value::Object(tokens)).start().await
}

/// Whether a call was let through; another refusal than that of a limit is a failure.
async fn passes(client: &Client, tool: &str) -> Result<bool> {
    let (text, is_error) = call(client, tool, json!({})).await?;
    ensure!(!is_error || text.contains("Rate limit exceeded"), "{text}");
    Ok(!is_error)
}

/// How many of these many calls of each caller at once were let through.
async fn at_once(plugway: &Plugway, calls: usize) -> Result<Vec<usize>> {
    let start = Instant::now();
    let admitted = try_join_all((0..CALLERS).map(async |number| {
        let client = Client::modern_as(plugway.address(), "/mcp", &token(number));
        let calls = try_join_all((0..calls).map(|_| passes(&client, "clock_now"))).await?;
        anyhow::Ok(calls.into_iter().filter(|passed| *passed).count())
    }))
    .await?;
    ensure!(start.elapsed() < MINUTE, "this machine is too slow for what is to be shown");
    Ok(admitted)
}

#[tokio::test]
async fn heavy_each_of_many_callers_at_once_gets_exactly_its_calls() -> Result<()> {
    let clock = DemoHttp::start(&["--json"]).await?;
    let plugway = identifying(Hub::before(clock.url()), json!({"max_calls_per_minute": 5})).await?;
    let admitted = at_once(&plugway, 8).await?;
    ensure!(admitted.iter().all(|calls| *calls == 5), "{admitted:?}");
    ensure!(clock.count("tools/call").await? == 5 * CALLERS as u64);
    Ok(())
}

#[tokio::test]
async fn heavy_limits_that_callers_share_are_exact_too() -> Result<()> {
    let clock = DemoHttp::start(&["--json"]).await?;
    let shared = json!({"calls_per_minute": 100, "per": "all"});
    let config = json!({"max_calls_per_minute": 3, "limits": [shared]});
    let plugway = identifying(Hub::before(clock.url()), config).await?;
    let admitted = at_once(&plugway, 4).await?;
    ensure!(admitted.iter().all(|calls| *calls <= 3), "{admitted:?}");
    ensure!(admitted.iter().sum::<usize>() == 100, "{admitted:?}");
    ensure!(clock.count("tools/call").await? == 100);
    Ok(())
}

#[tokio::test]
async fn a_limited_call_says_when_to_come_again() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway =
        with(Hub::before(clock.url()), json!({"max_calls_per_minute": 1})).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        ensure!(passes(&client, "clock_now").await?);
        let params = json!({"name": "clock_now", "arguments": {}});
        let reply = client.call("tools/call", params).await?;
        ensure!(reply.result()?["isError"] == true, "{reply:?}");
        let text = reply.result()?["content"][0]["text"].as_str().context("no text")?;
        let head = r#"{"success": false, "error": "Rate limit exceeded: maximum 1 calls per minute. Please wait and try again.", "retry_after_seconds": "#;
        ensure!(text.starts_with(head), "{text}");
        let said: Value = serde_json::from_str(text)?;
        let seconds = said["retry_after_seconds"].as_u64().context("no seconds")?;
        ensure!((1..=60).contains(&seconds), "{said}");
        let header: u64 = reply.header("retry-after").context("no Retry-After")?.parse()?;
        ensure!(header.abs_diff(seconds) <= 1, "{header} and {seconds}");
    }
    Ok(())
}

#[tokio::test]
async fn limits_are_of_callers_tenants_tools_and_everybody() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let one = |per: &str| json!({"limits": [{"calls_per_minute": 1, "per": per}]});
    for (per, second, admitted) in [
        ("caller", (ANN_TOO, "clock_count"), false),
        ("caller", (BOB, "clock_now"), true),
        ("tenant", (BOB, "clock_now"), true),
        ("tenant", (EVE, "clock_now"), false),
        ("tool", (BOB, "clock_now"), false),
        ("tool", (ANN, "clock_count"), true),
        ("caller_tool", (ANN, "clock_count"), true),
        ("caller_tool", (ANN_TOO, "clock_now"), false),
        ("all", (BOB, "clock_count"), false),
    ] {
        let plugway = identifying(Hub::before(clock.url()), one(per)).await?;
        let caller = |token: &str| Client::modern_as(plugway.address(), "/mcp", token);
        ensure!(passes(&caller(ANN), "clock_now").await?, "{per}");
        let (token, tool) = second;
        ensure!(passes(&caller(token), tool).await? == admitted, "{per}: {token} {tool}");
    }
    Ok(())
}

#[tokio::test]
async fn a_burst_is_admitted_at_once() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let config = json!({"limits": [{"calls_per_minute": 1, "burst": 3, "tools": ["now"]}]});
    let plugway = with(Hub::before(clock.url()), config).start().await?;
    let client = plugway.legacy().await?;
    for _ in 0..3 {
        ensure!(passes(&client, "clock_now").await?);
    }
    ensure!(!passes(&client, "clock_now").await?);
    ensure!(passes(&client, "clock_count").await?, "the limit is about another tool");
    Ok(())
}

#[tokio::test]
async fn where_one_limit_refuses_the_others_are_not_charged() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let narrow = json!({"calls_per_minute": 1, "per": "tool", "tools": ["now"]});
    let config = json!({"max_calls_per_minute": 3, "limits": [narrow], "blocked_tools": ["echo"]});
    let plugway = with(Hub::before(clock.url()), config).start().await?;
    let client = plugway.legacy().await?;
    ensure!(passes(&client, "clock_now").await?);
    for _ in 0..5 {
        ensure!(!passes(&client, "clock_now").await?);
        ensure!(call(&client, "clock_echo", json!({})).await?.0.contains("blocked"));
    }
    ensure!(passes(&client, "clock_count").await? && passes(&client, "clock_count").await?);
    ensure!(!passes(&client, "clock_count").await?);
    Ok(())
}

#[tokio::test]
async fn a_parallel_call_counts_by_its_inputs() -> Result<()> {
    let server = CodeServer::start().await?;
    let hub = Hub::new("hub").upstream("lab", &server.url());
    let plugway = with(hub, json!({"max_calls_per_minute": 5})).start().await?;
    plugway.wait_until_connected(&["lab"]).await?;
    let client = plugway.legacy().await?;
    let run = async |count: usize| {
        let arguments = json!({"code": "x", "inputs": vec![json!({}); count]});
        call(&client, "lab_parallel_execute", arguments).await
    };
    let too_many = run(6).await?;
    ensure!(too_many.1 && too_many.0.contains("counts as 6 calls"), "{too_many:?}");
    ensure!(!run(4).await?.1, "what never fits was charged");
    ensure!(run(2).await?.0.contains("maximum 5 calls"));
    ensure!(!run(0).await?.1);
    ensure!(passes(&client, "lab_list_sessions").await.is_ok_and(|passed| !passed));
    Ok(())
}

/// A server of the legacy era whose tool `ask` asks who it is in the middle of each of so many calls.
fn asking(calls: u64) -> String {
    let tools = json!([{"name": "ask", "inputSchema": {"type": "object"}}]);
    let opened = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "asking", "version": "0"},
    });
    let of_one = |number: u64| {
        let id = format!("q{number}");
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let question = json!({"message": "Who are you?", "requestedSchema": schema});
        let call = json!({"name": "ask", "arguments": {"n": number}});
        vec![
            json!({"exchange": id}),
            json!({"client": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}}),
            json!({"server": {"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": question}}),
            json!({"client": {"jsonrpc": "2.0", "id": id, "result": {"action": "accept"}}}),
            json!({"server": {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "done"}]}}}),
        ]
    };
    let start = [
        json!({"exchange": "open"}),
        json!({"client": {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}}),
        json!({"server": {"jsonrpc": "2.0", "id": 1, "result": opened}}),
        json!({"exchange": "tools"}),
        json!({"client": {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}}),
        json!({"server": {"jsonrpc": "2.0", "id": 2, "result": {"tools": tools}}}),
    ];
    let lines = start.into_iter().chain((1..=calls).flat_map(of_one));
    lines.fold(String::new(), |all, line| all + &line.to_string() + "\n")
}

#[tokio::test]
async fn a_call_that_asks_for_input_is_counted_once() -> Result<()> {
    let server = Replayed::over_http(&asking(3)).await?;
    let policies = json!([{"use": "gateway", "config": {"max_calls_per_minute": 2}}]);
    let configuration =
        json!({"name": "hub", "upstreams": [server.upstream("up")?], "policies": policies});
    let plugway = Plugway::start(configuration.to_string()).await?;
    let client = Client::modern_with(plugway.address(), "/mcp", json!({"elicitation": {}}));
    for number in 1..=2 {
        let mut params = json!({"name": "up_ask", "arguments": {"n": number}});
        let asked = client.call("tools/call", params.clone()).await?;
        let asked = asked.result()?;
        ensure!(asked["resultType"] == "input_required", "{asked}");
        let keys = asked["inputRequests"].as_object().context("no questions")?.keys();
        let answer = json!({"action": "accept", "content": {"name": "Ann"}});
        params["inputResponses"] = keys.map(|key| (key.clone(), answer.clone())).collect();
        params["requestState"] = asked["requestState"].clone();
        let answered = client.call("tools/call", params).await?;
        let text = &answered.result()?["content"][0]["text"];
        ensure!(*text == "done", "{}", answered.text);
    }
    let (text, is_error) = call(&client, "up_ask", json!({"n": 3})).await?;
    ensure!(is_error && text.contains("maximum 2 calls"), "{text}");
    Ok(())
}

#[tokio::test]
async fn what_was_counted_outlives_a_changed_configuration() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let config = |calls: u32| {
        let policies = json!([{"use": "gateway", "config": {"max_calls_per_minute": calls}}]);
        let upstreams = json!([{"name": "clock", "url": clock.url()}]);
        json!({"name": "hub", "upstreams": upstreams, "policies": policies}).to_string()
    };
    let plugway = Plugway::start(config(2)).await?;
    let client = plugway.legacy().await?;
    ensure!(passes(&client, "clock_now").await? && passes(&client, "clock_now").await?);
    ensure!(!passes(&client, "clock_now").await?);
    plugway.reconfigure(&config(3))?;
    plugway.logged("configuration applied", BOUND).await?;
    ensure!(passes(&client, "clock_now").await?);
    ensure!(!passes(&client, "clock_now").await?, "the minute began anew");
    Ok(())
}
