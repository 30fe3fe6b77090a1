//! Servers that crash, chatter, flood and leave processes behind.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Plugway, binary, demo_notes_path, plugway::Setup, process, rpc::Client,
    scratch::Scratch, wait,
};
use serde_json::{Value, json};

/// Much less than the 5 minutes that a call may take.
const AT_ONCE: Duration = Duration::from_secs(5);
const BOUND: Duration = Duration::from_secs(20);

async fn rough() -> Result<Plugway> {
    let path = binary::find("rough-server")?;
    Plugway::start(format!(
        "name: hub\nupstreams: [{{name: rough, command: '{}'}}]\n",
        path.display()
    ))
    .await
}

async fn number(client: &Client, tool: &str) -> Result<u32> {
    let text = client.call_text(tool, json!({})).await?;
    text.parse().with_context(|| format!("{tool} answered `{text}`"))
}

fn ensure_names_server(result: &Value, server: &str) -> Result<()> {
    let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    ensure!(result.get("isError") == Some(&json!(true)) && text.contains(server), "{result}");
    Ok(())
}

#[tokio::test]
async fn a_crash_fails_the_calls_in_flight_at_once_and_the_next_call_gets_a_new_child() -> Result<()>
{
    let plugway = rough().await?;
    let (client, other) = (plugway.legacy().await?, plugway.legacy().await?);
    let (first, theirs) =
        (number(&client, "rough_process_id").await?, number(&other, "rough_process_id").await?);
    let hanging = client.call_tool("rough_hang", json!({}));
    // The crash has to meet a call that the same child works on.
    let crashing = async {
        plugway.logged("a call hangs from now on", BOUND).await?;
        client.call_tool("rough_crash", json!({})).await
    };
    let both = Box::pin(futures_util::future::join(hanging, crashing));
    let (hanging, crashing) = wait::within("both calls fail", AT_ONCE, both).await?;
    ensure_names_server(&hanging?, "rough")?;
    ensure_names_server(&crashing?, "rough")?;
    let second = number(&client, "rough_process_id").await?;
    ensure!(first != second, "a dead process answered");
    ensure!(number(&other, "rough_process_id").await? == theirs, "another client's child ended");
    Ok(())
}

#[tokio::test]
async fn a_child_killed_between_calls_is_replaced_without_an_error() -> Result<()> {
    let plugway = rough().await?;
    let client = plugway.legacy().await?;
    let first = number(&client, "rough_process_id").await?;
    process::signal(first, rustix::process::Signal::KILL)?;
    process::until_gone(&BTreeSet::from([first]), BOUND).await?;
    // The call that meets the end of the child may fail, naming the server; a later one must not.
    let second = wait::until("a new child answers", BOUND, async || {
        let result = client.call_tool("rough_process_id", json!({})).await?;
        if result["isError"] == true {
            ensure_names_server(&result, "rough")?;
            return Ok(None);
        }
        Ok(result["content"][0]["text"].as_str().map(str::to_owned))
    })
    .await?;
    ensure!(second != first.to_string());
    Ok(())
}

/// The processes that hang in the middle of their list, or did.
fn hanging(plugway: &Plugway) -> BTreeSet<u32> {
    let lines = plugway.stderr();
    let said = lines.iter().filter(|line| line.contains("hangs in the middle of its list"));
    let ids = said.filter_map(|line| line.split("process ").nth(1)?.split(' ').next());
    ids.filter_map(|id| id.parse().ok()).collect()
}

/// Kills those that still do; whether there was one.
async fn kills_hanging(plugway: &Plugway) -> Result<bool> {
    let mut alive = hanging(plugway);
    alive.retain(|id| process::is_alive(*id));
    for id in &alive {
        process::signal(*id, rustix::process::Signal::KILL)?;
    }
    process::until_gone(&alive, BOUND).await?;
    Ok(!alive.is_empty())
}

#[tokio::test]
async fn a_server_killed_in_the_middle_of_its_list_has_all_of_its_tools_or_none() -> Result<()> {
    let (clock, scratch) = (DemoHttp::start(&[]).await?, Scratch::new()?);
    let fragile = scratch.path().join("fragile");
    let rough = json!({
        "name": "rough", "command": binary::find("rough-server")?, "args": ["--fragile", &fragile],
        "refresh": "300ms", "reconnect": {"initial": "100ms", "max": "200ms"},
    });
    let upstreams = json!([rough, {"name": "clock", "url": clock.url()}]);
    let plugway =
        Plugway::start(json!({"name": "hub", "upstreams": upstreams}).to_string()).await?;
    plugway.wait_until_connected(&["rough", "clock"]).await?;
    let client = plugway.legacy().await?;
    let all = client.tool_names().await?;
    let others: Vec<String> =
        all.iter().filter(|name| !name.starts_with("rough_")).cloned().collect();
    ensure!(all.len() > others.len() && all.contains(&"rough_escape".to_owned()), "{all:?}");

    scratch.write("fragile", "")?;
    for _ in 0..3 {
        wait::until("a child hangs in the middle of its list", BOUND, async || {
            let names = client.tool_names().await?;
            ensure!(names == all || names == others, "half a list: {names:?}");
            Ok(kills_hanging(&plugway).await?.then_some(()))
        })
        .await?;
        ensure!(client.call_text("clock_echo", json!({"message": "hi"})).await? == "hi");
    }
    std::fs::remove_file(&fragile)?;
    wait::until("its tools are all there again", BOUND, async || {
        // One may have begun before.
        kills_hanging(&plugway).await?;
        let health = plugway.get("/health").await?.json()?;
        let is_there = health.pointer("/upstreams/rough").is_some_and(|phase| phase == "connected");
        Ok((is_there && client.tool_names().await? == all).then_some(()))
    })
    .await?;
    number(&client, "rough_process_id").await?;
    Ok(())
}

#[tokio::test]
async fn lines_that_are_no_messages_and_floods_of_stderr_hurt_nobody() -> Result<()> {
    let plugway = rough().await?;
    let client = plugway.legacy().await?;
    let own = number(&client, "rough_process_id").await?;
    let before = process::resident_bytes(plugway.pid()?)?;
    ensure!(client.call_text("rough_chatter", json!({})).await? == "quiet again");
    // 4 MB: far more than a pipe holds, so that somebody must read it.
    let lines = client.call_text("rough_flood", json!({"lines": 20_000})).await?;
    ensure!(lines == "20000", "{lines}");
    ensure!(number(&client, "rough_process_id").await? == own, "the child was replaced");
    let logged = plugway.stderr().iter().filter(|line| line.contains("line 1")).count();
    ensure!(logged <= 200, "{logged} lines of a flood were logged");
    let grown = process::resident_bytes(plugway.pid()?)?.saturating_sub(before);
    ensure!(grown < 16 << 20, "plugway grew by {grown} bytes");
    Ok(())
}

/// How everything can end.
#[derive(Debug, Clone, Copy)]
enum End {
    /// The client ends its session.
    Delete,
    /// plugway is asked to end.
    Term,
    /// plugway is killed.
    Kill,
}

async fn ends_all(plugway: Plugway, client: &Client, end: End, pids: &BTreeSet<u32>) -> Result<()> {
    ensure!(pids.iter().all(|pid| process::is_alive(*pid)), "some of {pids:?} do not run");
    match end {
        End::Delete => {
            client.delete().await?;
            process::until_gone(pids, BOUND).await.context("after DELETE")?;
            ensure!(plugway.stop().await?.success());
            return Ok(());
        }
        End::Term => ensure!(plugway.stop().await?.success()),
        End::Kill => plugway.kill().await?,
    }
    process::until_gone(pids, BOUND).await.with_context(|| format!("after {end:?}"))
}

#[tokio::test]
async fn grandchildren_that_ignore_everything_end_with_their_server() -> Result<()> {
    for end in [End::Delete, End::Term, End::Kill] {
        let plugway = rough().await?;
        let client = plugway.legacy().await?;
        let mut pids = BTreeSet::new();
        for tool in ["rough_process_id", "rough_stubborn", "rough_escape"] {
            pids.insert(number(&client, tool).await?);
        }
        ensure!(pids.len() == 3);
        ends_all(plugway, &client, end, &pids).await?;
    }
    Ok(())
}

/// A server as people write them: a script that starts something in the background, and ignores SIGTERM itself.
const SCRIPT: &str = "\
trap '' TERM
(trap '' TERM HUP INT; exec sleep 600) &
echo $! > \"$1.tmp\" && mv \"$1.tmp\" \"$1\"
\"$2\"
";

#[tokio::test]
async fn a_script_and_what_it_started_in_the_background_end_with_plugway() -> Result<()> {
    for end in [End::Term, End::Kill] {
        let notes = demo_notes_path()?;
        let plugway = Setup::new(format!(
            "name: hub\nupstreams: [{{name: script, command: sh, args: [server.sh, pid, '{}'], sharing: connector}}]\n",
            notes.display()
        ))
        .file("server.sh", SCRIPT)
        .start()
        .await?;
        let client = plugway.legacy().await?;
        let mut pids = process::descendants(plugway.pid()?)?;
        pids.insert(number(&client, "script_process_id").await?);
        let background = std::fs::read_to_string(plugway.folder().join("pid"))?;
        pids.insert(background.trim().parse()?);
        ends_all(plugway, &client, end, &pids).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_program_that_does_not_exist_keeps_nobody_from_serving() -> Result<()> {
    let plugway = Setup::new(format!(
        "name: hub\nupstreams:\n  - {{name: absent, command: ./no-such-program}}\n  - {{name: notes, command: '{}'}}\n",
        demo_notes_path()?.display()
    ))
    .absent("absent")
    .start()
    .await?;
    let client = plugway.legacy().await?;
    number(&client, "notes_process_id").await?;
    let health = plugway.get("/health").await?.json()?;
    ensure!(health["upstreams"]["absent"] != "connected", "{health}");
    plugway.logged("no-such-program", BOUND).await?;
    Ok(())
}
