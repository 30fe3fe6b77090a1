//! What went wrong at other MCP proxies, where no other file has the test; `docs/field-cases.md` lists them all.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use plugway_tests::{
    DemoHttp, Notices, Plugway, Scripted, demo_notes_path,
    faulty::{Faulty, Raw},
    process,
    replay::Replayed,
    wait,
};
use serde_json::{Value, json};

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

/// A client of the legacy era that loses its connection may come back for the answer; one of the modern era that closes its
/// stream does not want it any more, and the server is told: by the end of the session that was its own, or of the stream.
#[tokio::test]
async fn who_disconnects_gives_up_in_the_modern_era_only() -> Result<()> {
    let upstream = Scripted::start().await?;
    let modern = Replayed::over_http(MODERN).await?;
    let upstreams = json!([{"name": "web", "url": upstream.url()}, modern.upstream("new")?]);
    let plugway =
        Plugway::start(json!({"name": "hub", "upstreams": upstreams}).to_string()).await?;
    let steps = json!({"name": "web_steps", "arguments": {"steps": 1}});

    let client = plugway.legacy().await?;
    let mut stream = client.open("tools/call", steps.clone()).await?;
    let last = stream.next_event(BOUND).await?.and_then(|event| event.id).context("no id")?;
    drop(stream);
    upstream.release();
    let mut stream = client.resume(&last).await?;
    let mut texts = Vec::new();
    while let Some(message) = stream.next(BOUND).await? {
        texts.extend(message.pointer("/result/content/0/text").cloned());
    }
    ensure!(texts == ["done"] && upstream.cancelled().is_empty(), "{texts:?}");
    ensure!(upstream.deletes() == 0, "a session ended with a connection");

    let client = plugway.modern();
    let mut stream = client.open("tools/call", steps).await?;
    stream.next(BOUND).await?.context("the call has no messages")?;
    drop(stream);
    wait::until("the session of the call ends", BOUND, async || {
        Ok((upstream.deletes() == 1).then_some(()))
    })
    .await?;

    let stream = client.open("tools/call", json!({"name": "new_wait", "arguments": {}})).await?;
    ensure!(modern.asked("tools/call")?.len() == 1 && modern.asked("replay/closed")?.is_empty());
    drop(stream);
    wait::until("the stream at the server is closed", BOUND, async || {
        Ok((modern.asked("replay/closed")?.len() == 1).then_some(()))
    })
    .await
}

/// A server whose tool waits for what never comes.
const MODERN: &str = r#"
{"exchange":"discover"}
{"client":{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}}
{"server":{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}}
{"exchange":"tools"}
{"client":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}
{"server":{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[{"name":"wait","inputSchema":{"type":"object"}}]}}}
{"exchange":"a call"}
{"client":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"wait","arguments":{}}}}
{"client":{"jsonrpc":"2.0","method":"notifications/never"}}
"#;

/// Sessions that the server below opened, and calls that it got.
static OPENED: AtomicU64 = AtomicU64::new(0);
static CALLED: AtomicU64 = AtomicU64::new(0);

fn mostly_unavailable(message: &Value, _: u64) -> Option<Raw> {
    if message["method"] == "initialize" {
        OPENED.fetch_add(1, Ordering::SeqCst);
    }
    if message["method"] != "tools/call" {
        return None;
    }
    CALLED.fetch_add(1, Ordering::SeqCst);
    let refused = message["params"]["arguments"]["n"] != 7;
    refused.then(|| (503, "text/plain", None, "not now".to_owned()))
}

/// optimikelabs/optimike-obsidian-mcp#72: a refusal of one call is none of the session; what was refused is not called again.
#[tokio::test]
async fn a_server_that_refuses_fifteen_of_sixteen_calls_keeps_its_session_and_gets_each_once()
-> Result<()> {
    let upstream = Faulty::start(mostly_unavailable).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: up, url: '{}'}}]\n",
        upstream.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    client.call_tool("up_good", json!({"n": 7})).await?;
    let (opened, called) = (OPENED.load(Ordering::SeqCst), CALLED.load(Ordering::SeqCst));
    let calls = (0..16).map(|n| client.call_tool("up_good", json!({"n": n})));
    let results = try_join_all(calls).await?;
    let good = results.iter().filter(|result| result["isError"] != true).count();
    ensure!(good == 1 && results[7]["content"][0]["text"] == "fine", "{results:?}");
    ensure!(OPENED.load(Ordering::SeqCst) == opened, "the session was opened again");
    ensure!(CALLED.load(Ordering::SeqCst) == called + 16, "a call was repeated");
    ensure!(client.call_text("up_good", json!({"n": 7})).await? == "fine");
    Ok(())
}

/// agentgateway/agentgateway#3476, IBM/mcp-context-forge#6635, BerriAI/litellm#39172: a list that is read again is read to
/// its end again, and nothing of it is lost.
#[tokio::test]
async fn every_page_of_a_list_is_there_before_and_after_a_change() -> Result<()> {
    let server = Replayed::over_http(&paged()).await?;
    let configuration =
        json!({"name": "hub", "status": false, "upstreams": [server.upstream("up")?]});
    let plugway = Plugway::start(configuration.to_string()).await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let names = |first: u32| (first..first + 3).map(|n| format!("up_t{n}")).collect::<Vec<_>>();
    ensure!(client.tool_names().await? == names(1));
    client.call_tool("up_t1", json!({})).await?;
    notices.until_changed("tools", 1, BOUND).await?;
    ensure!(client.tool_names().await? == names(4));
    Ok(())
}

/// A server with three pages of one tool each, and three others since `t1` was called.
fn paged() -> String {
    let mut lines = Vec::new();
    let mut exchange = |name: Value, asked: Value, answer: Value, more: Option<Value>| {
        let message = |mut message: Value| {
            message["jsonrpc"] = json!("2.0");
            message
        };
        lines.push(name);
        lines.push(json!({"client": message(asked)}));
        lines.push(json!({"server": message(json!({"id": 1, "result": answer}))}));
        lines.extend(more);
    };
    let capabilities = json!({"tools": {"listChanged": true}});
    let info = json!({"name": "paged", "version": "0"});
    exchange(
        json!({"exchange": "open"}),
        json!({"id": 1, "method": "initialize", "params": {}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}),
        None,
    );
    exchange(
        json!({"exchange": "change"}),
        json!({"id": 1, "method": "tools/call", "params": {"name": "t1", "arguments": {}}}),
        json!({"content": []}),
        Some(json!({"all": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}})),
    );
    for (first, since) in [(1, None), (4, Some("change"))] {
        for page in 0..3 {
            let mut name = json!({"exchange": format!("page {page} of {first}")});
            if let Some(since) = since {
                name["since"] = json!(since);
            }
            let cursor = |page: u32| format!("{first}-{page}");
            // The first page has no cursor, and is another one after the change.
            let params = if page == 0 { json!({}) } else { json!({"cursor": cursor(page)}) };
            let tool =
                json!({"name": format!("t{}", first + page), "inputSchema": {"type": "object"}});
            let mut answer = json!({"tools": [tool]});
            if page < 2 {
                answer["nextCursor"] = json!(cursor(page + 1));
            }
            exchange(
                name,
                json!({"id": 1, "method": "tools/list", "params": params}),
                answer,
                None,
            );
        }
    }
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}
