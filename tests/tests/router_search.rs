//! The search over everything behind a connector: what is found, how it says to be used, what it keeps quiet about.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::tokens::{ANN, ANN_TOO, auth, identified};
use plugway_tests::{DemoHttp, Guest, Hub, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const SEARCH: &str = "search_hub_tools";

fn on() -> Value {
    json!({"unified_tools": true})
}

async fn search(client: &Client, query: &str, top: usize) -> Result<Value> {
    let text = client.call_text(SEARCH, json!({"query": query, "top": top})).await?;
    Ok(serde_json::from_str(&text)?)
}

fn names(found: &Value) -> Result<Vec<&str>> {
    let tools = found["tools"].as_array().context("no tools")?;
    Ok(tools.iter().filter_map(|tool| tool["name"].as_str()).collect())
}

#[tokio::test]
async fn what_is_found_can_be_called_as_it_says() -> Result<()> {
    let (clock, watch) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let plugway = Hub::before(clock.url())
        .upstream("watch", watch.url())
        .router_config(&on())
        .start()
        .await?;
    plugway.wait_until_connected(&["clock", "watch"]).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let listed = client.call("tools/list", json!({})).await?;
        let tools = listed.result()?["tools"].as_array().context("no tools")?;
        let own = tools.iter().find(|tool| tool["name"] == SEARCH).context("no search tool")?;
        ensure!(own["annotations"]["readOnlyHint"] == true, "{own}");
        ensure!(own["inputSchema"]["additionalProperties"] == false, "{own}");
        // No server here has workflows: there is nothing to plan.
        ensure!(!tools.iter().any(|tool| tool["name"] == "plan_hub_workflow"), "{tools:?}");

        let found = search(&client, "echo", 5).await?;
        // Both are equally good: the order of the configuration.
        ensure!(names(&found)? == ["clock_echo", "watch_echo"], "{found}");
        let hit = &found["tools"][1];
        ensure!(hit["server_name"] == "watch" && hit["available"] == true, "{hit}");
        ensure!(hit["score"].as_f64().is_some_and(|score| score > 0.0), "{hit}");
        ensure!(hit["to_access"] == "Call the tool watch_echo", "{hit}");
        let parameter = &hit["parameters"][0];
        ensure!(parameter["name"] == "message" && parameter["required"] == true, "{hit}");
        let name = hit["name"].as_str().context("no name")?;
        ensure!(client.call_text(name, json!({"message": "hi"})).await? == "hi");

        let all = search(&client, "", 1_000).await?;
        let of_servers = client.tool_names().await?.len() - 2; // without the search and the status
        ensure!(names(&all)?.len() == of_servers, "{all}");
        let nothing = search(&client, "zzzz", 5).await?;
        ensure!(nothing["hint"].as_str().is_some_and(|hint| hint.contains("zzzz")), "{nothing}");
        let refused = client.call_tool(SEARCH, json!({"query": "x", "top": -1})).await?;
        ensure!(refused["isError"] == true, "{refused}");
    }
    Ok(())
}

#[tokio::test]
async fn it_is_there_only_where_it_is_wanted() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).start().await?;
    let client = plugway.legacy().await?;
    ensure!(!client.tool_names().await?.contains(&SEARCH.to_owned()));
    let answer = client.call("tools/call", json!({"name": SEARCH, "arguments": {}})).await?;
    ensure!(answer.error_code()? == -32602, "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn each_caller_finds_what_it_may_see() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hides = Guest::new("visibility_by_scope")
        .config(json!({"hide": ["clock_add", "clock_count"], "scope": "write"}));
    let hub = Hub::before(clock.url()).router_config(&on()).policy(hides).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    // The same few instances answer both, one after the other.
    for _ in 0..4 {
        for (token, sees) in [(ANN, false), (ANN_TOO, true)] {
            let client = Client::modern_as(plugway.address(), "/mcp", token);
            for query in ["add", ""] {
                let found = search(&client, query, 100).await?;
                let hit = names(&found)?.contains(&"clock_add");
                ensure!(hit == sees, "{token} {query}: {found}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn tools_of_a_server_that_is_away_are_marked_until_it_is_back() -> Result<()> {
    let (clock, watch) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let address = clock.address().to_string();
    let closely = json!({
        "stale_for": "200ms", "health_check_interval": "100ms", "health_check_timeout": "1s",
        "reconnect": {"initial": "100ms", "max": "200ms"},
    });
    let hides = Guest::new("visibility_by_scope").config(json!({"hide": ["clock_add"]}));
    let plugway = Hub::new("hub")
        .upstream_with("clock", clock.url(), closely)
        .upstream("watch", watch.url())
        .router_config(&on())
        .policy(hides)
        .start()
        .await?;
    plugway.wait_until_connected(&["clock", "watch"]).await?;
    let client = plugway.legacy().await?;
    let until = async |available: bool| {
        wait::until("the hit is marked", BOUND, async || {
            let found = search(&client, "echo", 5).await?;
            ensure!(names(&found)? == ["clock_echo", "watch_echo"], "{found}");
            ensure!(found["tools"][1]["available"] == true, "{found}");
            Ok((found["tools"][0]["available"] == available).then_some(found))
        })
        .await
    };
    until(true).await?;
    clock.kill().await?;
    let found = until(false).await?;
    let hit = &found["tools"][0];
    let access = hit["to_access"].as_str().context("no access")?;
    ensure!(access.starts_with("Not available now: the server clock is away."), "{hit}");
    ensure!(hit["description"].as_str().is_some_and(|text| !text.is_empty()), "{hit}");
    // What is hidden stays hidden while its server is away.
    ensure!(names(&search(&client, "add", 5).await?)? == ["watch_add"]);
    let _clock = DemoHttp::start_at(&address, &[]).await?;
    until(true).await?;
    Ok(())
}

#[tokio::test]
async fn heavy_ten_thousand_tools_are_searched_and_found_under_a_new_name_after_a_change()
-> Result<()> {
    let many = DemoHttp::start(&["--tools", "9900", "--page-size", "5000"]).await?;
    let config = |alias: Value| {
        let upstream = json!({"name": "many", "url": many.url(), "aliases": alias});
        let router = json!({"use": "router", "config": on()});
        json!({"name": "hub", "router": router, "upstreams": [upstream]}).to_string()
    };
    let plugway = plugway_tests::Plugway::start(config(json!({}))).await?;
    plugway.wait_until_connected(&["many"]).await?;
    let client = plugway.modern();
    let first = async |query: String| {
        let found = search(&client, &query, 3).await?;
        Ok::<_, anyhow::Error>(names(&found)?.first().map(|name| (*name).to_owned()))
    };
    let listed = Some("many_tool_0001".to_owned());
    wait::until("the tools are shaped", BOUND, async || {
        Ok((first("tool_0001".to_owned()).await? == listed).then_some(()))
    })
    .await?;
    for number in [77, 4_321, 9_900] {
        let found = first(format!("tool_{number:04}")).await?;
        ensure!(found == Some(format!("many_tool_{number:04}")), "{found:?}");
    }
    ensure!(names(&search(&client, "", 1_000).await?)?.len() == 1_000);
    plugway.reconfigure(&config(json!({"tool_0077": "lucky"})))?;
    wait::until("the new name is found", BOUND, async || {
        let found = search(&client, "lucky", 3).await?;
        Ok((names(&found)? == ["lucky"]).then_some(()))
    })
    .await
}

#[tokio::test]
async fn keys_that_are_not_there_are_refused_before_anything_serves() -> Result<()> {
    for (config, sentence) in [
        (
            json!({"unified_tool": true}),
            "unknown field `unified_tool`, expected `unified_tools` or `bridges`",
        ),
        (
            json!({"bridges": [{"from_state": "a.b", "to_state": "c.d"}]}),
            "bridges are part of the plan that `unified_tools: true` offers",
        ),
    ] {
        let output =
            Hub::before("http://127.0.0.1:9/mcp").router_config(&config).setup()?.check().await?;
        ensure!(output.status.code() == Some(4), "{}", output.status);
        ensure!(output.stderr.contains(sentence), "{}", output.stderr);
    }
    Ok(())
}
