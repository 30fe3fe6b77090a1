//! Every name is decided by the router component: prefixes, aliases, exposed names, clashes.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Plugway, demo_notes_path};
use serde_json::{Value, json};

#[tokio::test]
async fn the_merged_list_is_a_function_of_the_configuration() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams:\n  - {{name: clock, url: '{}', aliases: {{add: sum}}, expose: [add, 'e*', count]}}\n  - {{name: notes, command: '{}', prefix: never}}\n",
        clock.url(),
        demo_notes_path()?.display()
    ))
    .await?;
    plugway.wait_until_connected(&["clock", "notes"]).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let names: BTreeSet<String> = client.tool_names().await?.into_iter().collect();
        for shown in ["sum", "clock_echo", "clock_count", "add_note", "list_notes"] {
            ensure!(names.contains(shown), "{shown} is missing: {names:?}");
        }
        for hidden in ["clock_add", "add", "notes_add_note", "clock_now"] {
            ensure!(!names.contains(hidden), "{hidden} is listed: {names:?}");
        }
        let sum = client.call_text("sum", json!({"a": 20, "b": 22})).await?;
        ensure!(sum.contains("42"), "{sum}");
    }
    Ok(())
}

#[tokio::test]
async fn definitions_pass_untouched_but_for_their_name() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}'}}]\n",
        clock.url()
    ))
    .await?;
    let direct = plugway_tests::rpc::Client::legacy(clock.address(), "/mcp").await?;
    let through = plugway.legacy().await?;
    for (method, member, key) in [
        ("tools/list", "tools", "name"),
        ("prompts/list", "prompts", "name"),
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ] {
        let own = list(&direct, method, member).await?;
        let mut shown = list(&through, method, member).await?;
        // The status is the connector's own.
        let status = ["hub_status", "plugway://hub/status"];
        shown.retain(|entry| !status.iter().any(|own| entry[key] == *own));
        ensure!(own.len() == shown.len(), "{method}: {} and {}", own.len(), shown.len());
        for (mut own, shown) in own.into_iter().zip(shown) {
            if key == "name" {
                let name = own["name"].as_str().context("no name")?;
                own["name"] = json!(format!("clock_{name}"));
            }
            ensure!(own == shown, "{method}: {own} became {shown}");
        }
    }
    Ok(())
}

async fn list(
    client: &plugway_tests::rpc::Client,
    method: &str,
    member: &str,
) -> Result<Vec<Value>> {
    let reply = client.call(method, json!({})).await?;
    reply.result()?[member].as_array().cloned().with_context(|| format!("{method} lists nothing"))
}

#[tokio::test]
async fn a_paginated_list_is_read_to_its_end() -> Result<()> {
    let many = DemoHttp::start(&["--tools", "400", "--page-size", "37"]).await?;
    let plugway =
        Plugway::start(format!("name: hub\nupstreams: [{{name: many, url: '{}'}}]\n", many.url()))
            .await?;
    let names = plugway.legacy().await?.tool_names().await?;
    ensure!(names.len() >= 400, "{} of more than 400 tools are listed", names.len());
    Ok(())
}

#[tokio::test]
async fn prompts_resources_and_completions_reach_their_server() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}'}}]\n",
        clock.url()
    ))
    .await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let resources = list(&client, "resources/list", "resources").await?;
        let uri = resources.first().context("no resource")?["uri"].clone();
        let read = client.call("resources/read", json!({ "uri": uri })).await?;
        ensure!(read.result()?["contents"][0]["uri"] == uri, "{:?}", read.result()?);
        let prompts = list(&client, "prompts/list", "prompts").await?;
        let prompt = prompts.first().context("no prompt")?;
        let arguments: serde_json::Map<String, Value> = prompt["arguments"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|argument| {
                Some((argument["name"].as_str()?.to_owned(), json!("Europe/Paris")))
            })
            .collect();
        let params = json!({ "name": prompt["name"], "arguments": arguments });
        let got = client.call("prompts/get", params).await?;
        ensure!(got.result()?["messages"].is_array(), "{:?}", got.result()?);
        if let Some(argument) = prompt["arguments"][0]["name"].as_str() {
            let params = json!({
                "ref": { "type": "ref/prompt", "name": prompt["name"] },
                "argument": { "name": argument, "value": "" },
            });
            let completed = client.call("completion/complete", params).await?;
            ensure!(completed.result()?["completion"]["values"].is_array());
        }
    }
    Ok(())
}

#[tokio::test]
async fn of_two_equal_names_the_first_in_the_configuration_wins() -> Result<()> {
    let first = DemoHttp::start(&["--name", "one"]).await?;
    let second = DemoHttp::start(&["--name", "two"]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams:\n  - {{name: one, url: '{}', prefix: never}}\n  - {{name: two, url: '{}', prefix: never}}\n",
        first.url(),
        second.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    client.call_tool("count", json!({})).await?;
    ensure!(first.count("tools/call").await? == 1 && second.count("tools/call").await? == 0);
    Ok(())
}
