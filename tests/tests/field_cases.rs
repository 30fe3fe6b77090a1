//! What went wrong at other MCP proxies, where no other file has the test; `docs/field-cases.md` lists them all.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Plugway, Scripted, demo_notes_path, process, wait};
use serde_json::json;

const BOUND: Duration = Duration::from_secs(20);
const ABANDONED: usize = 8;

/// PrefectHQ/fastmcp#4124, lynnswap/XcodeMCPKit#210: a cancellation reaches the server that has the call, while the call
/// is still running there, and no other server.
#[tokio::test]
async fn a_cancellation_over_http_reaches_the_server_that_has_the_call() -> Result<()> {
    let (upstream, other) = (Scripted::start().await?, Scripted::start().await?);
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: web, url: '{}'}}, {{name: other, url: '{}'}}]\n",
        upstream.url(),
        other.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    client.call_tool("other_json", json!({})).await?;
    let params = json!({"name": "web_steps", "arguments": {"steps": 1}});
    let mut call = client.open("tools/call", params).await?;
    // The first message of the call: from here on the server has it.
    call.next(BOUND).await?.context("the call has no messages")?;
    // `initialize` was 1, the call of the other server 2.
    client.notify("notifications/cancelled", json!({"requestId": 3})).await?;
    wait::until("the server was told", BOUND, async || {
        Ok((upstream.cancelled() == [json!(3)]).then_some(()))
    })
    .await?;
    ensure!(other.cancelled().is_empty(), "another server was told");
    Ok(())
}

/// IBM/mcp-context-forge#1937, agentgateway/agentgateway#3476: every tool of a large server is listed, page after page.
#[tokio::test]
async fn four_hundred_tools_are_four_hundred_tools() -> Result<()> {
    let demo = DemoHttp::start(&["--tools", "400", "--page-size", "7"]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nstatus: false\nupstreams: [{{name: clock, url: '{}'}}]\n",
        demo.url()
    ))
    .await?;
    let names = plugway.legacy().await?.tool_names().await?;
    ensure!(names.len() == 404, "{} tools", names.len());
    ensure!(names.iter().collect::<BTreeSet<_>>().len() == 404, "some are listed twice");
    ensure!(names.contains(&"clock_tool_0400".to_owned()));
    Ok(())
}

/// agentgateway/agentgateway#495, #742: the names of one server do not depend on whether there is another one.
#[tokio::test]
async fn a_second_server_changes_no_name_of_the_first() -> Result<()> {
    let (one, other) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let first = format!("name: hub\nupstreams:\n- {{name: clock, url: '{}'}}\n", one.url());
    let both = format!("{first}- {{name: second, url: '{}'}}\n", other.url());
    let plugway = Plugway::start(first.clone()).await?;
    let client = plugway.legacy().await?;
    let before = client.tool_names().await?;
    let listed = async |second: bool| {
        wait::until(&format!("the second server is listed: {second}"), BOUND, async || {
            let names = client.tool_names().await?;
            let has = names.iter().any(|name| name.starts_with("second_"));
            Ok((has == second).then_some(names))
        })
        .await
    };
    plugway.reconfigure(&both)?;
    let grown = listed(true).await?;
    ensure!(before.iter().all(|name| grown.contains(name)), "{before:?} became {grown:?}");
    ensure!(client.call_text("clock_add", json!({"a": 1, "b": 2})).await? == "3");
    plugway.reconfigure(&first)?;
    ensure!(listed(false).await? == before);
    Ok(())
}

/// docker/mcp-gateway#318, #483, metatool-ai/metamcp#162: clients that vanish without a word leave no processes.
#[tokio::test]
async fn sessions_that_are_abandoned_leave_no_children() -> Result<()> {
    let plugway = Plugway::start(format!(
        "name: hub\nlimits: {{session_idle: 2s}}\nupstreams: [{{name: notes, command: '{}'}}]\n",
        demo_notes_path()?.display()
    ))
    .await?;
    let mut children = BTreeSet::new();
    for _ in 0..ABANDONED {
        let client = plugway.legacy().await?;
        children.insert(client.call_text("notes_process_id", json!({})).await?.parse::<u32>()?);
    }
    ensure!(children.len() == ABANDONED);
    process::until_gone(&children, BOUND).await
}
