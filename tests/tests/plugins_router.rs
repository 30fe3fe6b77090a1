//! Routers besides the bundled one: calls that `route` decides, tools of the router's own, shapes that fail.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, rpc::Client};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(10);

async fn call(client: &Client, name: &str, arguments: Value) -> Result<Value> {
    let params = json!({"name": name, "arguments": arguments});
    Ok(client.call("tools/call", params).await?.response()?.clone())
}

#[tokio::test]
async fn route_sends_each_call_where_it_belongs() -> Result<()> {
    let (one, two) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let plugway = Hub::new("hub")
        .upstream("one", one.url())
        .upstream("two", two.url())
        .router(Guest::new("route_dynamic"))
        .start()
        .await?;
    plugway.wait_until_connected(&["one", "two"]).await?;
    let legacy = plugway.legacy().await?;
    for (client, calls) in [(&legacy, 1), (&plugway.modern(), 2)] {
        let names = client.tool_names().await?;
        ensure!(names.iter().filter(|name| *name == "echo").count() == 1, "{names:?}");
        for (server, upstream) in [("one", &one), ("two", &two)] {
            let answer = call(client, "echo", json!({"message": "hi", "server": server})).await?;
            ensure!(answer["result"]["content"][0]["text"] == "hi", "{server}: {answer}");
            ensure!(upstream.count("tools/call").await? == calls, "{server} was not asked");
        }
        let refused = call(client, "echo", json!({"message": "hi"})).await?;
        ensure!(refused["result"]["isError"] == true, "{refused}");
        let text = &refused["result"]["content"][0]["text"];
        ensure!(text == "Say which server in the argument `server`.", "{text}");
        // The router names a server that is not there: its mistake, not the client's.
        let lost = call(client, "echo", json!({"message": "hi", "server": "three"})).await?;
        ensure!(lost["error"]["code"] == -32603, "{lost}");
        ensure!(!lost.to_string().contains("three"), "{lost}");
    }
    let line = plugway.logged("three", BOUND).await?;
    ensure!(line.contains("route"), "{line}");
    Ok(())
}

#[tokio::test]
async fn what_a_policy_hides_no_route_reaches() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hide = Guest::new("visibility_by_scope").config(json!({"hide": ["echo"]}));
    let plugway =
        Hub::before(clock.url()).router(Guest::new("route_dynamic")).policy(hide).start().await?;
    let client = plugway.legacy().await?;
    let answer = call(&client, "echo", json!({"message": "hi", "server": "clock"})).await?;
    ensure!(answer["error"]["code"] == -32602, "{answer}");
    ensure!(clock.count("tools/call").await? == 0);
    let answer = call(&client, "add", json!({"a": 1, "b": 2, "server": "clock"})).await?;
    ensure!(answer["result"]["content"][0]["text"] == "3", "{answer}");
    Ok(())
}

#[tokio::test]
async fn a_router_answers_tools_of_its_own() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hide = Guest::new("visibility_by_scope").config(json!({"hide": ["add"]}));
    let plugway =
        Hub::before(clock.url()).router(Guest::new("answer_local")).policy(hide).start().await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let answer = call(client, "report", json!({})).await?;
        let report = &answer["result"]["structuredContent"];
        ensure!(report["tool"] == "report" && report["caller"] == "anonymous", "{answer}");
        ensure!(report["document"] == "hub with 1 upstreams", "{report}");
        ensure!(report["place_of_nothing"].is_null(), "{report}");
        let place = report["place_of_report"].as_u64().context("no report in the catalogue")?;
        let names = report["names"].as_array().context("no names")?;
        ensure!(names.get(usize::try_from(place)?) == Some(&json!("report")), "{report}");
        ensure!(report["count"] == names.len(), "{report}");
        // The catalogue is the caller's view of it.
        ensure!(names.contains(&json!("echo")) && !names.contains(&json!("add")), "{report}");

        let refused = call(client, "report", json!({"refuse": true})).await?;
        ensure!(refused["result"]["isError"] == true, "{refused}");
        ensure!(refused["result"]["content"][0]["text"] == "No report was wanted.", "{refused}");
        let echoed = call(client, "echo", json!({"message": "hi"})).await?;
        ensure!(echoed["result"]["content"][0]["text"] == "hi", "{echoed}");
    }
    ensure!(clock.count("tools/call").await? == 2, "a local tool reached the upstream");
    Ok(())
}

#[tokio::test]
async fn what_a_router_answers_passes_review() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let review =
        Guest::new("review_replace").config(json!({"from": "anonymous", "to": "somebody"}));
    let plugway =
        Hub::before(clock.url()).router(Guest::new("answer_local")).policy(review).start().await?;
    let answer = call(&plugway.legacy().await?, "report", json!({})).await?;
    ensure!(answer["result"]["structuredContent"]["caller"] == "somebody", "{answer}");
    Ok(())
}

/// The arguments of `ask`.
fn question(upstream: &str, method: &str, params: impl Into<Value>) -> Value {
    json!({"upstream": upstream, "method": method, "params": params.into()})
}

#[tokio::test]
async fn a_router_that_was_granted_it_asks_upstreams() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let router = Guest::new("answer_upstreams").grants(json!({"upstreams": true}));
    let plugway = Hub::before(clock.url()).router(router).start().await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        ensure!(client.tool_names().await? == ["ask"]);
        let echo = json!({"name": "echo", "arguments": {"message": "hi"}});
        let zones = json!({"uri": "clock://zones"});
        let prompt = json!({"name": "ask_time", "arguments": {"zone": "utc"}});
        let answer = call(client, "ask", question("clock", "tools/call", echo)).await?;
        ensure!(answer["result"]["content"][0]["text"] == "hi", "{answer}");
        let answer = call(client, "ask", question("clock", "resources/read", zones)).await?;
        ensure!(answer["result"]["contents"][0]["uri"] == "clock://zones", "{answer}");
        let answer = call(client, "ask", question("clock", "prompts/get", prompt)).await?;
        ensure!(answer["result"]["messages"].is_array(), "{answer}");
        for (upstream, method, params) in [
            ("clock", "tools/call", json!({"name": "no_such", "arguments": {}})),
            ("clock", "tools/list", json!({})),
            ("clock", "tools/call", json!({})),
            ("nowhere", "tools/call", json!({"name": "echo", "arguments": {"message": "x"}})),
        ] {
            let answer = call(client, "ask", question(upstream, method, params)).await?;
            ensure!(answer["result"]["isError"] == true, "{upstream} {method}: {answer}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_state_that_a_router_reaches_is_its_callers_own() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let router = Guest::new("answer_upstreams").grants(json!({"upstreams": true}));
    let plugway = Hub::before(clock.url()).router(router).start().await?;
    let (ann, bob) = (plugway.legacy().await?, plugway.legacy().await?);
    let count = json!({"name": "count", "arguments": {}});
    for (client, expected) in [(&ann, "1"), (&ann, "2"), (&bob, "1")] {
        let answer = call(client, "ask", question("clock", "tools/call", count.clone())).await?;
        ensure!(answer["result"]["content"][0]["text"] == expected, "{answer}");
    }
    Ok(())
}

#[tokio::test]
async fn policies_judge_what_a_router_asks_for() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let router = Guest::new("answer_upstreams").grants(json!({"upstreams": true}));
    let hub = Hub::before(clock.url()).router(router);
    // The policy traps on `boom`, which stands in the arguments of the router's own call only.
    let plugway = hub.clone().policy(Guest::new("traps_on_argument")).start().await?;
    let client = plugway.legacy().await?;
    let echo = |boom: bool| json!({"name": "echo", "arguments": {"message": "hi", "boom": boom}});
    let answer = call(&client, "ask", question("clock", "tools/call", echo(false))).await?;
    ensure!(answer["result"]["content"][0]["text"] == "hi", "{answer}");
    let answer = call(&client, "ask", question("clock", "tools/call", echo(true))).await?;
    ensure!(answer["result"]["isError"] == true, "{answer}");
    ensure!(clock.count("tools/call").await? == 1, "an unjudged call reached the upstream");

    let review = Guest::new("review_replace").config(json!({"from": "secret", "to": "******"}));
    let plugway = hub.policy(review).start().await?;
    let echo = json!({"name": "echo", "arguments": {"message": "a secret"}});
    let client = plugway.legacy().await?;
    let answer = call(&client, "ask", question("clock", "tools/call", echo)).await?;
    ensure!(answer["result"]["content"][0]["text"] == "a ******", "{answer}");
    Ok(())
}

#[tokio::test]
async fn a_router_that_asks_without_the_grant_is_refused_by_name() -> Result<()> {
    let hub = Hub::before("http://127.0.0.1:9/mcp").router(Guest::new("answer_upstreams"));
    for output in [hub.setup()?.check().await?, hub.setup()?.serve_to_its_end().await?] {
        ensure!(!output.status.success(), "it was loaded without the grant");
        ensure!(output.stderr.contains("plugway:plugin/upstreams"), "{}", output.stderr);
        ensure!(output.stderr.contains("grant"), "{}", output.stderr);
    }
    Ok(())
}

#[tokio::test]
async fn a_router_that_cannot_shape_leaves_plain_prefixes() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    for how in ["failure", "trap", "loop"] {
        let router = Guest::new("shape_fails").config(json!({"how": how}));
        let plugway = Hub::before(clock.url()).router(router).start().await?;
        let client = plugway.legacy().await?;
        let names = client.tool_names().await?;
        ensure!(names.iter().any(|name| name == "clock_echo"), "{how}: {names:?}");
        ensure!(client.call_text("clock_echo", json!({"message": how})).await? == how);
        let line = plugway.logged("could not shape", BOUND).await?;
        ensure!(line.contains("shape_fails") && line.contains("hub"), "{line}");
    }
    Ok(())
}

#[tokio::test]
async fn readiness_of_a_plugin_is_part_of_ready() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url());
    let guest = Guest::new("lifecycle_ready");
    let plugway = hub.clone().policy(guest.clone()).start().await?;
    let ready = plugway.get("/ready").await?;
    ensure!(ready.status == 200, "{}", ready.text());
    let said = &ready.json()?["connectors"]["hub"]["plugins"]["lifecycle_ready"]["says"];
    ensure!(said == "all is well", "{said}");

    let waiting = guest.config(json!({"not_ready": "The licence server is away."}));
    let plugway = hub.policy(waiting).setup()?.unready().start().await?;
    let ready = plugway.get("/ready").await?;
    ensure!(ready.status == 503, "{}", ready.text());
    ensure!(ready.text().contains("The licence server is away."), "{}", ready.text());
    ensure!(ready.text().contains("lifecycle_ready"), "{}", ready.text());
    ensure!(plugway.get("/health").await?.status == 200, "not ready is not dead");
    Ok(())
}
