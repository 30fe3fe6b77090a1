//! Servers go away and come back: what lists show, what calls answer, what clients are told.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Notices, Plugway, demo_notes_path, plugway::Setup, process, rpc::Client, wait,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const BOUND: Duration = Duration::from_secs(20);

/// Keys of an upstream that is watched closely and soon counts as away.
const CLOSELY: &str = "health_check_interval: 100ms, health_check_timeout: 1s, reconnect: {initial: 100ms, max: 200ms}";

async fn until_listed(client: &Client, tool: &str, listed: bool) -> Result<()> {
    wait::until(&format!("{tool} listed: {listed}"), BOUND, async || {
        let names = client.tool_names().await?;
        Ok((names.iter().any(|name| name == tool) == listed).then_some(()))
    })
    .await
}

/// The text with which a call is refused.
async fn refusal(client: &Client, tool: &str) -> Result<String> {
    let result = client.call_tool(tool, json!({"message": "x"})).await?;
    ensure!(result.get("isError") == Some(&json!(true)), "{result}");
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    text.map(str::to_owned).with_context(|| format!("no text in {result}"))
}

/// Which server, since when, and the next attempt.
fn is_sentence(text: &str, server: &str) -> bool {
    text.starts_with(&format!("The server \"{server}\" is away since 20"))
        && text.contains(" s ago); ")
        && ["the next attempt to reach it is in ", "an attempt to reach it is under way"]
            .iter()
            .any(|prospect| text.contains(prospect))
}

/// A client that calls a tool all the time. Each call must be answered by a result.
fn busy(client: Client, tool: &'static str) -> JoinHandle<Result<()>> {
    tokio::spawn(async move {
        loop {
            let result = client.call_tool(tool, json!({"message": "hi"})).await?;
            ensure!(result.pointer("/content/0/text").is_some(), "{result}");
        }
    })
}

/// Kills every child that runs the notebook.
fn kill_notes(plugway: &Plugway) -> Result<()> {
    for pid in process::descendants(plugway.pid()?)? {
        if process::name(pid).is_some_and(|name| name == "demo-notes") {
            process::signal(pid, Signal::KILL)?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn servers_killed_under_load_leave_and_return_refreshed() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let address = clock.address().to_string();
    // The notebook can be started while the file `on` exists.
    let plugway = Setup::new(format!(
        "name: hub\nupstreams:\n  - {{name: clock, url: '{}', stale_for: 300ms, {CLOSELY}}}\n  - {{name: notes, command: sh, args: ['-c', 'test -e on && exec \"$0\"', '{}'], stale_for: 300ms, {CLOSELY}}}\n",
        clock.url(),
        demo_notes_path()?.display(),
    ))
    .file("on", "")
    .start()
    .await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    ensure!(
        client.initialized().context("no result")?["capabilities"]["tools"]["listChanged"] == true
    );
    let load = [
        busy(plugway.legacy().await?, "clock_echo"),
        busy(plugway.modern(), "clock_echo"),
        busy(plugway.legacy().await?, "notes_list_notes"),
    ];

    clock.kill().await?;
    std::fs::remove_file(plugway.folder().join("on"))?;
    kill_notes(&plugway)?;
    for (tool, server) in [("clock_echo", "clock"), ("notes_list_notes", "notes")] {
        until_listed(&client, tool, false).await?;
        let text = refusal(&client, tool).await?;
        ensure!(is_sentence(&text, server), "{text}");
        // Whoever starts now does not see them either, and learns why.
        let late = plugway.legacy().await?;
        until_listed(&late, tool, false).await?;
        let instructions = &late.initialized().context("no result")?["instructions"];
        ensure!(instructions.as_str().is_some_and(|text| text.contains(server)), "{instructions}");
    }
    notices.until_changed("tools", 1, BOUND).await?;
    // Who is back before anybody was told was never away.
    wait::until("both are said to be away", BOUND, async || {
        let away = ["clock", "notes"].map(|server| told(&notices, "warning", server).len());
        Ok((away == [1, 1]).then_some(()))
    })
    .await?;

    let _clock = DemoHttp::start_at(&address, &["--tools", "2"]).await?;
    plugway.write("on", "")?;
    for tool in ["clock_echo", "clock_tool_0002", "notes_list_notes"] {
        until_listed(&client, tool, true).await?;
    }
    ensure!(client.call_text("clock_echo", json!({"message": "again"})).await? == "again");
    client.call_tool("notes_list_notes", json!({})).await?;
    for task in load {
        ensure!(!task.is_finished(), "a call was not answered: {:?}", task.await);
        task.abort();
    }
    until_told_of_both(&notices).await
}

/// The messages of this level that name a server.
fn told(notices: &Notices, level: &str, server: &str) -> Vec<(String, String)> {
    let mut all = notices.messages();
    all.retain(|(word, text)| word == level && text.contains(server));
    all
}

/// One message when each server left, one when it was back.
async fn until_told_of_both(notices: &Notices) -> Result<()> {
    let told = |level: &str, server: &str| told(notices, level, server);
    wait::until("both are said to be back", BOUND, async || {
        let back = ["clock", "notes"].map(|server| told("notice", server).len());
        Ok((back == [1, 1]).then_some(()))
    })
    .await
    .with_context(|| format!("{:?}", notices.all()))?;
    for server in ["clock", "notes"] {
        let left = told("warning", server);
        ensure!(left.len() == 1, "{left:?}");
        ensure!(left.iter().all(|(_, text)| is_sentence(text, server)), "{left:?}");
        ensure!(left.iter().all(|(_, text)| text.contains(&format!("{server}_"))), "{left:?}");
    }
    Ok(())
}

#[tokio::test]
async fn each_way_is_told_exactly_once() -> Result<()> {
    let mut clock = DemoHttp::start(&[]).await?;
    let address = clock.address().to_string();
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', stale_for: 100ms, {CLOSELY}}}]\n",
        clock.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    let quiet = plugway.legacy().await?;
    let set = quiet.call("logging/setLevel", json!({"level": "error"})).await?;
    ensure!(*set.result()? == json!({}));
    let unknown = quiet.call("logging/setLevel", json!({"level": "loud"})).await?;
    ensure!(unknown.error_code()? == -32602);
    let (notices, unheard) = (Notices::of(&client).await?, Notices::of(&quiet).await?);
    for round in 1..=2 {
        clock.kill().await?;
        // The last of the three that come together.
        notices.until_changed("resources", 2 * round - 1, BOUND).await?;
        // When a client is told, its lists show it.
        ensure!(client.tool_names().await? == ["hub_status"]);
        clock = DemoHttp::start_at(&address, &[]).await?;
        notices.until_changed("resources", 2 * round, BOUND).await?;
        ensure!(client.tool_names().await?.len() == 5);
    }
    // Whatever had been told too often would have come before the last change.
    let all = notices.all();
    for list in ["tools", "prompts", "resources"] {
        ensure!(notices.changes(list) == 4, "{list}: {all:?}");
    }
    let levels: Vec<String> = notices.messages().into_iter().map(|(level, _)| level).collect();
    ensure!(levels == ["warning", "notice", "warning", "notice"], "{all:?}");
    unheard.until_changed("tools", 4, BOUND).await?;
    ensure!(unheard.messages().is_empty(), "{:?}", unheard.all());
    Ok(())
}

#[tokio::test]
async fn a_short_outage_changes_nothing() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let address = clock.address().to_string();
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', stale_for: 10m, {CLOSELY}}}]\n",
        clock.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let all = client.tool_names().await?;
    let mut clock = Some(clock);
    // The second time it comes back with another list, which is told once.
    for flags in [&[][..], &["--tools", "1"]] {
        if let Some(clock) = clock.take() {
            clock.kill().await?;
        }
        until_phase(&plugway, "reconnecting").await?;
        ensure!(client.tool_names().await? == all);
        let text = refusal(&client, "clock_echo").await?;
        ensure!(is_sentence(&text, "clock"), "{text}");
        clock = Some(DemoHttp::start_at(&address, flags).await?);
        until_phase(&plugway, "connected").await?;
    }
    notices.until_changed("tools", 1, BOUND).await?;
    until_listed(&client, "clock_tool_0001", true).await?;
    let told = notices.all();
    ensure!(told.len() == 1, "{told:?}");
    Ok(())
}

async fn until_phase(plugway: &Plugway, phase: &str) -> Result<()> {
    wait::until(&format!("clock is {phase}"), BOUND, async || {
        let health = plugway.get("/health").await?.json()?;
        Ok((health.pointer("/upstreams/clock") == Some(&json!(phase))).then_some(()))
    })
    .await
}

#[tokio::test]
async fn kept_entries_stay_in_the_lists() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', stale_for: 0s, unavailable: keep, {CLOSELY}}}]\n",
        clock.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let all = client.tool_names().await?;
    clock.kill().await?;
    until_phase(&plugway, "reconnecting").await?;
    let text = refusal(&client, "clock_echo").await?;
    ensure!(is_sentence(&text, "clock"), "{text}");
    ensure!(client.tool_names().await? == all);
    ensure!(notices.all().is_empty(), "{:?}", notices.all());
    Ok(())
}

#[tokio::test]
async fn prompts_and_resources_answer_with_the_same_sentence() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', stale_for: 100ms, {CLOSELY}}}]\n",
        clock.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    clock.kill().await?;
    until_listed(&client, "clock_echo", false).await?;
    for client in [&client, &plugway.modern()] {
        for (method, params) in [
            ("prompts/get", json!({"name": "clock_ask_time", "arguments": {"zone": "x"}})),
            ("resources/read", json!({"uri": "clock://zones"})),
            ("resources/read", json!({"uri": "clock://zone/x"})),
        ] {
            let reply = client.call(method, params).await?;
            let error = reply.response()?["error"].clone();
            let text = error["message"].as_str().context("no message")?;
            ensure!(error["code"] == -32603 && is_sentence(text, "clock"), "{method}: {error}");
            ensure!(error["data"]["code"] == "upstream-unavailable", "{method}: {error}");
        }
        let unknown = client.call("tools/call", json!({"name": "clock_nothing"})).await?;
        ensure!(unknown.error_code()? == -32602, "{unknown:?}");
        for (method, member) in
            [("prompts/list", "prompts"), ("resources/templates/list", "resourceTemplates")]
        {
            let listed = client.call(method, json!({})).await?.result()?[member].clone();
            ensure!(listed == Value::Array(Vec::new()), "{method}: {listed}");
        }
    }
    Ok(())
}

/// agentgateway/agentgateway#495, #742: names must not depend on which servers there are.
#[tokio::test]
async fn names_never_move_to_another_server() -> Result<()> {
    let (first, second) = (DemoHttp::start(&[]).await?, DemoHttp::start(&["--tools", "1"]).await?);
    let address = first.address().to_string();
    let keys = format!("prefix: never, stale_for: 100ms, {CLOSELY}");
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams:\n  - {{name: first, url: '{}', {keys}}}\n  - {{name: second, url: '{}', {keys}}}\n",
        first.url(),
        second.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    until_listed(&client, "tool_0001", true).await?;
    first.kill().await?;
    until_listed(&client, "echo", false).await?;
    let text = refusal(&client, "echo").await?;
    ensure!(is_sentence(&text, "first"), "{text}");
    ensure!(client.tool_names().await? == ["tool_0001", "hub_status"]);
    let first = DemoHttp::start_at(&address, &[]).await?;
    until_listed(&client, "echo", true).await?;
    ensure!(client.call_text("echo", json!({"message": "hi"})).await? == "hi");
    ensure!(first.count("tools/call").await? == 1 && second.count("tools/call").await? == 0);
    Ok(())
}

#[tokio::test]
async fn a_flapping_server_causes_few_changes() -> Result<()> {
    let mut clock = DemoHttp::start(&[]).await?;
    let address = clock.address().to_string();
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', stale_for: 0s, {CLOSELY}}}]\n",
        clock.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let start = Instant::now();
    for round in 1..=8 {
        clock.kill().await?;
        until_listed(&client, "clock_echo", false).await?;
        let extra = (round % 3).to_string();
        clock = DemoHttp::start_at(&address, &["--tools", &extra]).await?;
        until_listed(&client, "clock_echo", true).await?;
    }
    let periods = usize::try_from(start.elapsed().as_secs())?;
    let changes = notices.changes("tools");
    ensure!(changes <= periods + 1, "{changes} changes were told in {periods} periods");
    ensure!(notices.changes("prompts") <= periods + 1);
    Ok(())
}

#[tokio::test]
async fn who_listed_what_was_there_for_a_moment_is_told_of_its_end() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let address = clock.address().to_string();
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', stale_for: 0s, {CLOSELY}}}]\n",
        clock.url()
    ))
    .await?;
    let (client, other) = (plugway.legacy().await?, plugway.legacy().await?);
    let notices = Notices::of(&client).await?;
    client.tool_names().await?;
    clock.kill().await?;
    notices.until_changed("tools", 1, BOUND).await?;
    // Nothing more is told for a while; what the client lists meanwhile is over before that.
    let clock = DemoHttp::start_at(&address, &[]).await?;
    until_listed(&other, "clock_echo", true).await?;
    until_listed(&client, "clock_echo", true).await?;
    clock.kill().await?;
    until_listed(&other, "clock_echo", false).await?;
    notices.until_changed("tools", 2, BOUND).await?;
    wait::until("the agent knows that the server is away", BOUND, async || {
        let last = notices.messages().pop();
        Ok(last.filter(|(level, _)| level == "warning"))
    })
    .await?;
    until_listed(&client, "clock_echo", false).await
}
