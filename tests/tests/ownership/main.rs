//! Sessions, jobs and batches of code-execution servers belong to who made them, although the servers ask nobody.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Guest, Hub, Plugway,
    code_server::CodeServer,
    metrics,
    rpc::Client,
    tokens::{ANN, ANN_TOO, BOB, auth, identified},
};
use serde_json::json;

mod asks;
mod lazily;
mod stacked;

use self::asks::{listed, run, text, told, unknown_to};

const BOUND: Duration = Duration::from_secs(10);

fn hub(server: &CodeServer) -> Hub {
    Hub::new("hub").upstream("lab", &server.url())
}

async fn started(hub: Hub) -> Result<Plugway> {
    let plugway = identified(hub.top("auth", auth()).setup()?, &json!({})).start().await?;
    plugway.wait_until_connected(&["lab"]).await?;
    Ok(plugway)
}

async fn open(server: &CodeServer) -> Result<Plugway> {
    let plugway = hub(server).start().await?;
    plugway.wait_until_connected(&["lab"]).await?;
    Ok(plugway)
}

#[tokio::test]
async fn identified_callers_have_their_own_in_all_their_sessions() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = started(hub(&server)).await?;
    let at = |token: &str| Client::modern_as(plugway.address(), "/mcp", token);
    let bob = at(BOB);
    let of_bob = run(&bob, "set 7", None).await?;
    for ann in [at(ANN), Client::legacy_as(plugway.address(), "/mcp", ANN).await?] {
        let session = run(&ann, "set 42", None).await?;
        ensure!(run(&ann, "get", Some(&session)).await? == session);
        unknown_to(&bob, &server, &session).await?;
        unknown_to(&ann, &server, &of_bob).await?;
        // She is the same one with another token and in another session.
        let again = at(ANN_TOO);
        let value = told(&again, "lab_inspect_session", json!({"session_id": session})).await?;
        ensure!(value["namespace"]["x"] == "42", "{value}");
        ensure!(listed(&again).await?.contains(&session));
    }
    ensure!(listed(&bob).await? == [of_bob]);
    Ok(())
}

#[tokio::test]
async fn sessions_without_identity_are_told_apart() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = open(&server).await?;
    let (one, other) = (plugway.legacy().await?, plugway.legacy().await?);
    let (first, second) = (run(&one, "set 1", None).await?, run(&other, "set 2", None).await?);
    ensure!(first != second);
    unknown_to(&one, &server, &second).await?;
    unknown_to(&other, &server, &first).await?;
    unknown_to(&plugway.modern(), &server, &first).await?;
    ensure!(listed(&one).await? == std::slice::from_ref(&first));
    let closed = told(&one, "lab_close_session", json!({"session_id": first})).await?;
    ensure!(closed["success"] == true && closed["remaining_sessions"] == 0, "{closed}");
    ensure!(server.sessions() == 1, "it was closed, and the other one was not");
    unknown_to(&one, &server, &first).await?;
    ensure!(listed(&other).await? == [second]);
    Ok(())
}

#[tokio::test]
async fn strangers_of_the_modern_era_use_what_they_were_given() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = open(&server).await?;
    let (one, other) = (plugway.modern(), plugway.modern());
    let session = run(&one, "set 5", None).await?;
    ensure!(run(&one, "get", None).await? != session, "nothing is shared without the id");
    ensure!(run(&one, "get", Some(&session)).await? == session);
    // Nobody can be told apart: the id is the key, and no list gives it away.
    ensure!(run(&other, "get", Some(&session)).await? == session);
    for client in [&one, &other] {
        ensure!(listed(client).await?.is_empty());
    }
    unknown_to(&plugway.legacy().await?, &server, &session).await?;
    let closed = told(&one, "lab_close_session", json!({"session_id": session})).await?;
    ensure!(closed["remaining_sessions"] == 0, "{closed}");
    unknown_to(&other, &server, &session).await?;
    Ok(())
}

#[tokio::test]
async fn jobs_and_batches_belong_to_who_started_them() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = started(hub(&server)).await?;
    let legacy = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let bob = Client::modern_as(plugway.address(), "/mcp", BOB);
    for ann in [Client::modern_as(plugway.address(), "/mcp", ANN), legacy] {
        let job = told(&ann, "execute_lab_code", json!({"code": "job"})).await?;
        let batch = json!({"code": "get", "inputs": [{}, {}]});
        let batch = told(&ann, "lab_parallel_execute", batch).await?;
        let of_batch = &batch["jobs"][1];
        let session = of_batch["session_id"].as_str().context("no session")?;
        for (tool, key, id, sentence) in [
            ("lab_check_job", "job_id", &job["job_id"], "Job {} not found"),
            ("lab_check_job", "job_id", &of_batch["job_id"], "Job {} not found"),
            ("lab_check_batch", "batch_id", &batch["batch_id"], "404: Batch '{}' not found"),
            ("lab_cancel_batch", "batch_id", &batch["batch_id"], "404: Batch '{}' not found"),
        ] {
            let id = id.as_str().context("no id")?;
            server.asked();
            let refused = told(&bob, tool, json!({key: id})).await?;
            ensure!(
                refused == json!({"success": false, "error": sentence.replace("{}", id)}),
                "{refused}"
            );
            ensure!(!server.asked().contains(&id.to_owned()));
            let given = told(&ann, tool, json!({key: id})).await?;
            ensure!(given[key] == id, "{tool}: {given}");
        }
        ensure!(listed(&ann).await?.contains(&session.to_owned()));
        unknown_to(&bob, &server, session).await?;
        // What the server opened by the way is named when the batch is looked at.
        let checked = told(&ann, "lab_check_batch", json!({"batch_id": batch["batch_id"]})).await?;
        let parent = checked["parent_session_id"].as_str().context("no parent")?;
        ensure!(run(&ann, "get", Some(parent)).await? == parent);
        unknown_to(&bob, &server, parent).await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_id_can_be_used_as_soon_as_it_is_there() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = open(&server).await?;
    let legacy = plugway.legacy().await?;
    for _ in 0..25 {
        for client in [&legacy, &plugway.modern()] {
            let job = told(client, "execute_lab_code", json!({"code": "job"})).await?;
            let checked = told(client, "lab_check_job", json!({"job_id": job["job_id"]})).await?;
            ensure!(checked["success"] == true, "{checked}");
            let batch = json!({"code": "get", "inputs": [{}]});
            let batch = told(client, "lab_parallel_execute", batch).await?;
            let checked = json!({"batch_id": batch["batch_id"]});
            let checked = told(client, "lab_check_batch", checked).await?;
            ensure!(checked["batch_id"] == batch["batch_id"], "{checked}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_was_started_again_says_so_itself() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = started(hub(&server)).await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let bob = Client::legacy_as(plugway.address(), "/mcp", BOB).await?;
    let session = run(&ann, "set 42", None).await?;
    server.restart();
    let gone = json!({"code": "get", "execution_session_id": session});
    let said = told(&ann, "execute_lab_code", gone).await?;
    let sentence = format!(
        "Session {session} not found. It may have expired or been cleaned up. Active sessions: 0"
    );
    ensure!(said["error"] == sentence, "{said}");
    ensure!(server.asked() == std::slice::from_ref(&session), "it was asked about what it gave");
    ensure!(listed(&ann).await?.is_empty());
    unknown_to(&bob, &server, &session).await?;
    // New ones are the caller's as before.
    let session = run(&ann, "set 43", None).await?;
    ensure!(listed(&ann).await? == std::slice::from_ref(&session));
    unknown_to(&bob, &server, &session).await?;
    // Of a session that is gone nobody learns how many others there are.
    run(&bob, "set 1", None).await?;
    server.restart();
    run(&bob, "set 1", None).await?;
    let said = told(&ann, "lab_inspect_session", json!({"session_id": session})).await?;
    ensure!(
        said["error"].as_str().is_some_and(|text| text.ends_with("Active sessions: 0")),
        "{said}"
    );
    Ok(())
}

#[tokio::test]
async fn what_belongs_to_whom_outlives_a_reload() -> Result<()> {
    let server = CodeServer::start().await?;
    let config = |description: &str| {
        json!({"name": "hub", "description": description, "upstreams": [{"name": "lab", "url": server.url()}]})
            .to_string()
    };
    let plugway = Plugway::start(config("one")).await?;
    plugway.wait_until_connected(&["lab"]).await?;
    let (one, other) = (plugway.legacy().await?, plugway.legacy().await?);
    let session = run(&one, "set 1", None).await?;
    plugway.reconfigure(&config("two"))?;
    plugway.logged("configuration applied", BOUND).await?;
    ensure!(run(&one, "get", Some(&session)).await? == session);
    unknown_to(&other, &server, &session).await?;
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_too_large_passes_and_what_it_names_stays_unknown() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = open(&server).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let large = told(&client, "execute_lab_code", json!({"code": "print 2100000"})).await?;
        ensure!(large["stdout"].as_str().map(str::len) == Some(2_100_000));
        let session = large["session_id"].as_str().context("no session")?.to_owned();
        unknown_to(&client, &server, &session).await?;
        let small = told(&client, "execute_lab_code", json!({"code": "print 1900000"})).await?;
        let session = small["session_id"].as_str().context("no session")?.to_owned();
        ensure!(run(&client, "get", Some(&session)).await? == session);
    }
    let line = plugway.logged("too large for the router to learn from", BOUND).await?;
    ensure!(line.contains("lab"), "{line}");
    Ok(())
}

#[tokio::test]
async fn a_policy_judges_a_guarded_call_once_and_may_refuse_it() -> Result<()> {
    let server = CodeServer::start().await?;
    let reviewing =
        Guest::new("review_replace").config(json!({"from": "nothing", "to": "like it"}));
    let admitting = Guest::new("admit_rate").config(json!({"limit": 100, "window_ms": 60_000}));
    let plugway = started(hub(&server).policy(reviewing).policy(admitting)).await?;
    let ann = Client::modern_as(plugway.address(), "/mcp", ANN);
    let asked = async |hook: &str| {
        metrics::sum(&plugway, metrics::CALLS, &[("connector", "hub"), ("hook", hook)]).await
    };
    let session = run(&ann, "set 1", None).await?;
    let before = (asked("admit").await?, asked("review").await?);
    for (tool, arguments) in [
        ("lab_list_sessions", json!({})),
        ("lab_inspect_session", json!({"session_id": session})),
        ("lab_check_job", json!({"job_id": "j_000000000000"})),
        ("execute_lab_code", json!({"code": "get", "execution_session_id": session})),
    ] {
        text(&ann, tool, arguments).await?;
    }
    let after = (asked("admit").await?, asked("review").await?);
    for more in [after.0 - before.0, after.1 - before.1] {
        ensure!((more - 4.0).abs() < f64::EPSILON, "each once: {before:?} {after:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_no_server_takes_is_refused_by_it_or_by_the_router() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = open(&server).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for (tool, key) in [("lab_check_job", "job_id"), ("lab_inspect_session", "session_id")] {
            let result = client.call_tool(tool, json!({})).await?;
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            ensure!(result["isError"] == true && text.contains(key), "{result}");
            let result = client.call_tool(tool, json!({key: 7})).await?;
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            ensure!(result["isError"] == true, "{result}");
            ensure!(text == format!("The argument `{key}` is no text."), "{result}");
        }
    }
    Ok(())
}
