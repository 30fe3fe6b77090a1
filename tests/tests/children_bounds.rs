//! How many children there are, what they cost, and when they end.
//!
//! An upstream over stdio has one child that reads its catalogue, one for each session that called it, and one spare for
//! requests of nobody in particular once there was such a request. Each child has a small supervisor.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use plugway_tests::{Plugway, binary, demo_notes_path, process, rpc::Client, wait};
use serde_json::json;

const BOUND: Duration = Duration::from_secs(20);
const SERVERS: usize = 10;
/// What one child's supervisor may cost, as its share of memory, in a build without optimisation (about 1.8 MiB).
const SUPERVISOR_BYTES: u64 = 3 << 20;
/// What plugway may cost before ten servers, in such a build (about 18 MiB).
const PLUGWAY_BYTES: u64 = 64 << 20;

async fn ten_servers() -> Result<Plugway> {
    let notes = demo_notes_path()?;
    let upstream = |n| format!("{{name: notes{n}, command: '{}'}}", notes.display());
    let upstreams: Vec<String> = (0..SERVERS).map(upstream).collect();
    let configuration = format!("name: hub\nupstreams: [{}]\n", upstreams.join(", "));
    Plugway::start(configuration).await
}

/// The process of each server that this client's calls reach.
async fn processes(client: &Client) -> Result<BTreeSet<u32>> {
    let calls = (0..SERVERS).map(async |n| {
        let text = client.call_text(&format!("notes{n}_process_id"), json!({})).await?;
        text.parse::<u32>().with_context(|| format!("no process id: {text}"))
    });
    Ok(try_join_all(calls).await?.into_iter().collect())
}

async fn until_at_most(plugway: u32, most: usize) -> Result<()> {
    wait::until(&format!("at most {most} processes are left"), BOUND, async || {
        Ok((process::descendants(plugway)?.len() <= most).then_some(()))
    })
    .await
    .with_context(|| format!("there are {:?}", process::descendants(plugway).map(|all| all.len())))
}

#[tokio::test]
async fn heavy_ten_servers_and_three_clients_stay_within_bounds_and_leave_nothing() -> Result<()> {
    let plugway = ten_servers().await?;
    let pid = plugway.pid()?;
    // One child for the catalogue, and its supervisor.
    until_at_most(pid, 2 * SERVERS).await?;

    let clients = try_join_all((0..3).map(|_| plugway.legacy())).await?;
    let mut used = BTreeSet::new();
    for client in &clients {
        let own = processes(client).await?;
        ensure!(own.len() == SERVERS, "one process serves two servers: {own:?}");
        ensure!(processes(client).await? == own, "a second call reached another process");
        ensure!(used.is_disjoint(&own), "two clients share a process");
        used.extend(own);
    }
    let stranger = plugway.modern();
    for _ in 0..3 {
        let once = processes(&stranger).await?;
        ensure!(used.is_disjoint(&once), "a request of nobody reached a client's process");
    }
    // catalogue, three clients, a spare; and the supervisors
    until_at_most(pid, 2 * SERVERS * 5).await?;

    let supervisors = process::children(pid)?;
    let costs: Vec<u64> =
        supervisors.iter().filter_map(|pid| process::proportional_bytes(*pid).ok()).collect();
    let (sum, own) = (costs.iter().sum::<u64>(), process::proportional_bytes(pid)?);
    println!("plugway {} KiB, {} supervisors {} KiB", own >> 10, costs.len(), sum >> 10);
    let most = SUPERVISOR_BYTES * u64::try_from(costs.len())?;
    ensure!(sum <= most, "{} supervisors take {sum} bytes, at most {most}", costs.len());
    ensure!(own <= PLUGWAY_BYTES, "plugway takes {own} bytes");

    for client in &clients {
        let status = client.delete().await?;
        ensure!((200..300).contains(&status), "DELETE was answered {status}");
    }
    process::until_gone(&used, BOUND).await.context("children of ended sessions")?;
    until_at_most(pid, 2 * SERVERS * 2).await?;

    let all = process::descendants(pid)?;
    ensure!(!all.is_empty());
    ensure!(plugway.stop().await?.success());
    process::until_gone(&all, Duration::from_secs(5)).await.context("children of an ended plugway")
}

#[tokio::test]
async fn heavy_nothing_of_ten_servers_outlives_a_killed_plugway() -> Result<()> {
    let plugway = ten_servers().await?;
    let client = plugway.legacy().await?;
    let used = processes(&client).await?;
    let all = process::descendants(plugway.pid()?)?;
    ensure!(all.is_superset(&used) && all.len() >= 4 * SERVERS, "{} processes", all.len());
    plugway.kill().await?;
    process::until_gone(&all, BOUND).await
}

#[tokio::test]
async fn at_the_limit_of_children_a_call_says_so_and_the_others_go_on() -> Result<()> {
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: notes, command: '{}', max_children: 2}}]\n",
        demo_notes_path()?.display()
    ))
    .await?;
    let (first, second) = (plugway.legacy().await?, plugway.legacy().await?);
    first.call_tool("notes_add_note", json!({"text": "mine"})).await?;
    let refused = second.call_tool("notes_list_notes", json!({})).await?;
    let text = refused["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(refused["isError"] == true, "{refused}");
    ensure!(text.contains("notes") && text.contains('2'), "names neither server nor limit: {text}");
    ensure!(first.call_text("notes_list_notes", json!({})).await?.contains("mine"));
    // The place of a client that leaves is free.
    first.delete().await?;
    let text = wait::until("the second client gets a child", BOUND, async || {
        let result = second.call_tool("notes_list_notes", json!({})).await?;
        Ok((result["isError"] != true).then(|| result.to_string()))
    })
    .await?;
    ensure!(!text.contains("mine"), "the second client reads the first one's notes");
    Ok(())
}

#[tokio::test]
async fn an_idle_child_is_stopped_and_the_next_call_gets_a_new_one() -> Result<()> {
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: notes, command: '{}', idle_stop: 200ms}}]\n",
        demo_notes_path()?.display()
    ))
    .await?;
    let client = plugway.legacy().await?;
    let first: u32 = client.call_text("notes_process_id", json!({})).await?.parse()?;
    process::until_gone(&BTreeSet::from([first]), BOUND).await?;
    let second: u32 = client.call_text("notes_process_id", json!({})).await?.parse()?;
    ensure!(first != second && process::is_alive(second));
    Ok(())
}

#[tokio::test]
async fn a_server_for_all_has_one_child() -> Result<()> {
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: notes, command: '{}', sharing: connector}}]\n",
        demo_notes_path()?.display()
    ))
    .await?;
    let mut used = BTreeSet::new();
    for client in [plugway.legacy().await?, plugway.legacy().await?, plugway.modern()] {
        used.insert(client.call_text("notes_process_id", json!({})).await?);
    }
    ensure!(used.len() == 1, "several processes: {used:?}");
    // One child for calls, perhaps another for the catalogue; and the supervisors.
    ensure!(process::descendants(plugway.pid()?)?.len() <= 4);
    Ok(())
}

#[tokio::test]
async fn a_child_gets_the_environment_that_is_listed_and_no_other() -> Result<()> {
    let rough = binary::find("rough-server")?;
    let plugway = plugway_tests::plugway::Setup::new(format!(
        "name: hub\nupstreams: [{{name: rough, command: '{}', env: {{GIVEN: 1}}, inherit_env: [KEPT]}}]\n",
        rough.display()
    ))
    .environment("KEPT", "kept")
    .environment("SECRET", "hunter2")
    .start()
    .await?;
    let names = plugway.legacy().await?.call_text("rough_environment", json!({})).await?;
    ensure!(names == "GIVEN KEPT", "{names}");
    Ok(())
}
