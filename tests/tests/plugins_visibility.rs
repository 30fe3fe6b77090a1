//! Visibility: what is hidden does not exist for a caller, what is unlisted gives its reason.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, Plugway, metrics, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(10);

fn sights(config: Value) -> Guest {
    Guest::new("visibility_by_scope").config(config)
}

/// The names or URIs of a list.
async fn listed(client: &Client, method: &str, member: &str, key: &str) -> Result<Vec<String>> {
    let reply = client.call(method, json!({})).await?;
    let items = reply.result()?[member].as_array().cloned().unwrap_or_default();
    Ok(items.iter().filter_map(|item| item[key].as_str().map(str::to_owned)).collect())
}

/// An answer with everything of it that differs between any two calls taken out.
async fn error(client: &Client, method: &str, params: Value) -> Result<String> {
    let reply = client.call(method, params).await?;
    let mut error = reply.response()?["error"].clone();
    if let Some(data) = error["data"].as_object_mut() {
        data.remove("requestId");
    }
    ensure!(error["code"].is_number(), "{reply:?}");
    Ok(error.to_string())
}

#[expect(clippy::too_many_lines, reason = "two tables")]
#[tokio::test]
async fn what_is_hidden_cannot_be_told_from_what_does_not_exist() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hidden = json!({"hide": ["clock_add", "clock_ask_time", "clock://zone*"]});
    let plugway = Hub::before(clock.url()).policy(sights(hidden)).start().await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        for (method, member, key, name) in [
            ("tools/list", "tools", "name", "clock_add"),
            ("prompts/list", "prompts", "name", "clock_ask_time"),
            ("resources/list", "resources", "uri", "clock://zones"),
            ("resources/templates/list", "resourceTemplates", "uriTemplate", "clock://zone/{zone}"),
        ] {
            let names = listed(client, method, member, key).await?;
            ensure!(!names.iter().any(|one| one == name), "{method}: {names:?}");
        }
        let names = listed(client, "tools/list", "tools", "name").await?;
        ensure!(names.iter().any(|name| name == "clock_echo"), "{names:?}");

        let of = |name: &str| json!({"name": name, "arguments": {"a": 1, "b": 2}});
        let reference = |name: &str| {
            let argument = json!({"name": "zone", "value": ""});
            json!({"ref": {"type": "ref/prompt", "name": name}, "argument": argument})
        };
        let template = |uri: &str| {
            let argument = json!({"name": "zone", "value": ""});
            json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": argument})
        };
        for (method, hidden, unknown, names) in [
            ("tools/call", of("clock_add"), of("clock_sub"), ["clock_add", "clock_sub"]),
            ("prompts/get", of("clock_ask_time"), of("clock_ask_tide"), ["ask_time", "ask_tide"]),
            (
                "resources/read",
                json!({"uri": "clock://zones"}),
                json!({"uri": "clock://tides"}),
                ["zones", "tides"],
            ),
            (
                "resources/read",
                json!({"uri": "clock://zone/x"}),
                json!({"uri": "clock://tide/x"}),
                ["zone/", "tide/"],
            ),
            (
                "completion/complete",
                reference("clock_ask_time"),
                reference("clock_ask_tide"),
                ["ask_time", "ask_tide"],
            ),
            (
                "completion/complete",
                template("clock://zone/{zone}"),
                template("clock://tide/{zone}"),
                ["://zone", "://tide"],
            ),
        ] {
            let hidden = error(client, method, hidden).await?;
            let unknown = error(client, method, unknown).await?;
            let as_unknown = hidden.replace(names[0], names[1]);
            ensure!(as_unknown == unknown, "{method}: {hidden} but {unknown}");
        }
    }
    ensure!(clock.count("tools/call").await? == 0, "a hidden tool was called");
    Ok(())
}

#[tokio::test]
async fn what_is_unlisted_can_be_called() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway =
        Hub::before(clock.url()).policy(sights(json!({"unlist": ["clock_add"]}))).start().await?;
    let legacy = plugway.legacy().await?;
    for client in [&legacy, &plugway.modern()] {
        let names = client.tool_names().await?;
        ensure!(!names.iter().any(|name| name == "clock_add"), "{names:?}");
        let sum = client.call_text("clock_add", json!({"a": 20, "b": 22})).await?;
        ensure!(sum == "42", "{sum}");
    }
    Ok(())
}

#[tokio::test]
async fn a_call_of_what_is_unlisted_gets_its_reason() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let reason = json!({"message": "Adding costs a licence; ask Ann for one."});
    let plugway = Hub::before(clock.url())
        .policy(sights(json!({"unlist": ["clock_add"], "hide": ["clock_now"]})))
        .policy(Guest::new("admit_reject").config(reason))
        .start()
        .await?;
    let client = plugway.legacy().await?;
    let result = client.call_tool("clock_add", json!({"a": 1, "b": 2})).await?;
    ensure!(result["isError"] == true, "{result}");
    ensure!(result["content"][0]["text"] == "Adding costs a licence; ask Ann for one.", "{result}");
    // What is hidden does not reach `admit`, whose reason would show that it exists.
    let unknown = error(&client, "tools/call", json!({"name": "clock_now"})).await?;
    ensure!(unknown.contains("-32602") && !unknown.contains("Ann"), "{unknown}");
    Ok(())
}

#[tokio::test]
async fn the_strictest_policy_wins() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let first = sights(json!({"unlist": ["clock_*"]}));
    let second = sights(json!({"hide": ["clock_add"]})).named("second");
    for policies in [[first.clone(), second.clone()], [second, first]] {
        let [one, other] = policies;
        let plugway = Hub::before(clock.url()).policy(one).policy(other).start().await?;
        let client = plugway.legacy().await?;
        ensure!(client.tool_names().await? == ["hub_status"]);
        ensure!(client.call_text("clock_echo", json!({"message": "hi"})).await? == "hi");
        let unknown = error(&client, "tools/call", json!({"name": "clock_add"})).await?;
        ensure!(unknown.contains("-32602"), "{unknown}");
    }
    Ok(())
}

#[tokio::test]
async fn a_policy_sees_the_servers_own_names_and_titles() -> Result<()> {
    let clock = DemoHttp::start(&["--tools", "1500"]).await?;
    let guest = Guest::new("visibility_details");
    let guest = guest.config(json!({"own_names": ["echo", "tool_0003", "tool_1400"]}));
    let plugway = Hub::before(clock.url()).policy(guest).start().await?;
    let names = plugway.legacy().await?.tool_names().await?;
    // 1,500 tools are two pages: the places in each are its own.
    // The tool `hub_status` is the connector's own.
    ensure!(names.len() == 1_500 + 4 - 3 + 1, "{} tools", names.len());
    for hidden in ["clock_echo", "clock_tool_0003", "clock_tool_1400"] {
        ensure!(!names.iter().any(|name| name == hidden), "{hidden} is listed");
    }
    Ok(())
}

#[tokio::test]
async fn a_policy_hides_what_the_router_itself_serves() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url())
        .router(Guest::new("answer_local"))
        .policy(sights(json!({"hide": ["report", "add"]})))
        .start()
        .await?;
    let client = plugway.legacy().await?;
    let names = client.tool_names().await?;
    ensure!(!names.iter().any(|name| name == "report"), "{names:?}");
    let unknown = error(&client, "tools/call", json!({"name": "report"})).await?;
    ensure!(unknown.contains("-32602"), "{unknown}");
    Ok(())
}

async fn judged(plugway: &Plugway) -> Result<f64> {
    let labels = [("plugin", "visibility_by_scope"), ("hook", "visible")];
    metrics::sum(plugway, metrics::CALLS, &labels).await
}

#[tokio::test]
async fn a_view_is_judged_once_for_each_caller_while_it_is_valid() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway =
        Hub::before(clock.url()).policy(sights(json!({"hide": ["clock_add"]}))).start().await?;
    let ann = plugway.legacy().await?;
    for _ in 0..5 {
        ann.tool_names().await?;
        ann.call_text("clock_echo", json!({"message": "hi"})).await?;
    }
    let once = judged(&plugway).await?;
    ensure!((once - 1.0).abs() < f64::EPSILON, "judged {once} times");
    let bob = plugway.legacy().await?;
    bob.tool_names().await?;
    let twice = judged(&plugway).await?;
    ensure!((twice - 2.0).abs() < f64::EPSILON, "judged {twice} times");
    Ok(())
}

#[tokio::test]
async fn a_view_is_judged_again_when_its_validity_is_over() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let guest = sights(json!({"hide": ["clock_add"], "valid_ms": 50}));
    let plugway = Hub::before(clock.url()).policy(guest).start().await?;
    let client = plugway.legacy().await?;
    wait::until("the view is judged three times", BOUND, async || {
        let names = client.tool_names().await?;
        ensure!(!names.iter().any(|name| name == "clock_add"), "{names:?}");
        Ok((judged(&plugway).await? >= 3.0).then_some(()))
    })
    .await
}
