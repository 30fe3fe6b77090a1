//! Guarded entries, the hook `learn` and the import `handles`, with a router besides the bundled one.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::time::Duration;

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, metrics, rpc::Client};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(10);

async fn echo(client: &Client, message: &str, given: Option<&str>) -> Result<Value> {
    let mut arguments = json!({"message": message});
    if let Some(given) = given {
        arguments["ref"] = given.into();
    }
    let params = json!({"name": "echo", "arguments": arguments});
    Ok(client.call("tools/call", params).await?.response()?.clone())
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn what_was_learned_from_an_answer_is_the_callers() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).router(Guest::new("learns")).start().await?;
    plugway.wait_until_connected(&["clock"]).await?;
    let (one, other) = (plugway.legacy().await?, plugway.legacy().await?);
    ensure!(text(&echo(&one, "mine", None).await?) == "mine");
    ensure!(text(&echo(&one, "again", Some("mine")).await?) == "again");
    let asked = clock.count("tools/call").await?;
    for client in [&other, &plugway.modern()] {
        let refused = echo(client, "x", Some("mine")).await?;
        ensure!(refused["result"]["isError"] == true, "{refused}");
        ensure!(text(&refused) == "It was given to somebody else.", "{refused}");
        ensure!(text(&echo(client, "x", Some("answer")).await?) == "echo: 0");
    }
    // The first one has it, and keeps it.
    ensure!(text(&echo(&one, "x", Some("answer")).await?) == "echo: 2");
    ensure!(clock.count("tools/call").await? == asked, "the server was not asked");
    echo(&other, "mine", None).await?;
    let refused = echo(&other, "x", Some("mine")).await?;
    ensure!(refused["result"]["isError"] == true, "{refused}");
    // A guarded entry leads nowhere else, whatever the router says.
    let lost = echo(&one, "x", Some("elsewhere")).await?;
    ensure!(lost["error"]["code"] == -32603, "{lost}");
    let line = plugway.logged("may not reach", BOUND).await?;
    ensure!(line.contains("add"), "{line}");
    Ok(())
}

#[tokio::test]
async fn whatever_becomes_of_learning_the_answer_goes_on() -> Result<()> {
    for how in ["fail", "panic", "loop"] {
        let clock = DemoHttp::start(&[]).await?;
        let guest = Guest::new("learns")
            .config(json!({"how": how}))
            .with("limits", json!({"time_ms": 200}));
        let plugway = Hub::before(clock.url()).router(guest).start().await?;
        plugway.wait_until_connected(&["clock"]).await?;
        for client in [plugway.legacy().await?, plugway.modern()] {
            ensure!(text(&echo(&client, "mine", None).await?) == "mine", "{how}");
            let refused = echo(&client, "x", Some("mine")).await?;
            ensure!(refused["result"]["isError"] == true, "{how}: {refused}");
        }
        let labels = [("plugin", "learns"), ("hook", "learn")];
        ensure!(metrics::sum(&plugway, metrics::ERRORS, &labels).await? >= 2.0, "{how}");
    }
    Ok(())
}

#[tokio::test]
async fn a_guarded_entry_leaves_the_lists_with_its_server_and_policies_know_whose_it_is()
-> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let address = clock.address().to_string();
    let closely = json!({
        "stale_for": "200ms", "health_check_interval": "100ms", "health_check_timeout": "1s",
        "reconnect": {"initial": "100ms", "max": "200ms"},
    });
    let hides = Guest::new("visibility_by_scope").config(json!({"hide": ["add"]}));
    let plugway = Hub::new("hub")
        .upstream_with("clock", clock.url(), closely)
        .router(Guest::new("learns"))
        .policy(hides)
        .start()
        .await?;
    plugway.wait_until_connected(&["clock"]).await?;
    let client = plugway.legacy().await?;
    let until = async |there: bool| {
        plugway_tests::wait::until("the list follows the server", BOUND, async || {
            let names = client.tool_names().await?;
            ensure!(!names.contains(&"add".to_owned()), "{names:?}");
            Ok((names.contains(&"echo".to_owned()) == there).then_some(()))
        })
        .await
    };
    until(true).await?;
    clock.kill().await?;
    until(false).await?;
    let away = echo(&client, "x", None).await?;
    ensure!(away.to_string().contains("clock"), "the server is named: {away}");
    let _clock = DemoHttp::start_at(&address, &[]).await?;
    until(true).await?;
    ensure!(text(&echo(&client, "back", None).await?) == "back");
    Ok(())
}

#[tokio::test]
async fn too_many_interests_are_refused() -> Result<()> {
    let guest = Guest::new("learns").config(json!({"interests": 65}));
    let setup = Hub::before("http://127.0.0.1:9/mcp").router(guest).setup()?;
    let output = setup.serve_to_its_end().await?;
    ensure!(output.status.code() == Some(4), "{}", output.stderr);
    for word in ["learns", "interests", "64 globs"] {
        ensure!(output.stderr.contains(word), "{word}: {}", output.stderr);
    }
    Ok(())
}
