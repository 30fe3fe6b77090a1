//! What persons and other programs decide: confirmations, input, leases, approved definitions; and lines on stdout.

use std::fs::{self, File};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::asking::{accepted, elicitation, over_http};
use plugway_tests::registry::{LAB, Registry, hub, setup};
use plugway_tests::scratch::Scratch;
use plugway_tests::{
    Coder, DemoHttp, Guest, Hub, Plugway, Recorder, audit, coder::function, plugway, rpc::Client,
};
use serde_json::{Value, json};

use crate::{audited, call};

fn members<'a>(lines: &'a [Value], name: &str) -> Vec<&'a str> {
    lines.iter().map(|line| line[name].as_str().unwrap_or_default()).collect()
}

/// A client of the modern era that answers questions.
fn asked(plugway: &Plugway) -> Client {
    Client::modern_with(plugway.address(), "/mcp", json!({"elicitation": {}}))
}

/// Sends a call, and what is said to the only question about it.
async fn answered(client: &Client, params: Value, answer: &Value) -> Result<String> {
    let reply = client.call("tools/call", params.clone()).await?;
    let result = reply.result()?;
    let questions = result["inputRequests"].as_object().context("nothing was asked")?;
    let (key, _) = questions.iter().next().context("no question")?;
    let mut again = params;
    let members = again.as_object_mut().context("params are an object")?;
    members.insert("inputResponses".to_owned(), json!({key: answer}));
    if let Some(state) = result["requestState"].as_str() {
        members.insert("requestState".to_owned(), json!(state));
    }
    client.call("tools/call", again).await?;
    Ok(key.clone())
}

#[tokio::test]
async fn a_confirmation_is_told_with_its_question_and_its_answer() -> Result<()> {
    let upstream = Recorder::start().await?;
    let careful = Hub::new("hub").upstream("up", &upstream.url()).policy(Guest::new("confirming"));
    let plugway = audited(careful, json!({})).start().await?;
    let client = asked(&plugway);
    let look = call("up_look", &json!({"text": "hidden-text"}));
    let yes = json!({"action": "accept", "content": {"confirmed": true}});
    answered(&client, look.clone(), &yes).await?;
    answered(&client, look, &json!({"action": "decline"})).await?;
    ensure!(upstream.calls().len() == 1);
    let told = audit::until(&plugway, "confirmation", 4).await?;
    ensure!(members(&told, "result") == ["asked", "confirmed", "asked", "refused"], "{told:?}");
    ensure!(told.iter().all(|line| line["object"] == "hub/up/up_look"), "{told:?}");
    ensure!(told[3]["reason"] == "declined" && told[0]["reason"].is_null(), "{told:?}");
    // Arguments that are short can be guessed by a plain digest: that of the call is a keyed one.
    ensure!(told.iter().all(|line| line["digest"].is_null()), "{told:?}");
    let calls = audit::until(&plugway, "call", 4).await?;
    let verdicts = members(&calls, "verdict");
    ensure!(verdicts[..3] == ["asked", "confirmed", "asked"], "{verdicts:?}");
    ensure!(verdicts[3] != "confirmed" && calls[3]["upstream"].is_null(), "{calls:?}");
    for (told, called) in told.iter().zip(&calls) {
        ensure!(told["request_id"] == called["request_id"] && told["who"].is_string(), "{told}");
    }
    ensure!(!format!("{told:?}").contains("hidden-text"));
    Ok(())
}

#[tokio::test]
async fn what_a_client_says_to_a_question_of_a_server_stands_in_the_call() -> Result<()> {
    let web = over_http().await?;
    let plugway = audited(Hub::new("hub").upstream("web", web.url()), json!({})).start().await?;
    let client = asked(&plugway);
    let params = call("web_require", &elicitation("?"));
    let mut expected = Vec::new();
    for (answer, outcome) in [
        (accepted("word"), "accept"),
        (json!({"action": "decline"}), "decline"),
        (json!({"action": "cancel"}), "cancel"),
    ] {
        let key = answered(&client, params.clone(), &answer).await?;
        expected.push(json!([{"name": key, "outcome": outcome}]));
    }
    let lines = audit::until(&plugway, "call", 6).await?;
    let inputs: Vec<&Value> = lines.iter().skip(1).step_by(2).map(|line| &line["inputs"]).collect();
    ensure!(inputs == expected.iter().collect::<Vec<_>>(), "{lines:?}");
    ensure!(lines.iter().step_by(2).all(|line| line["inputs"].is_null()), "{lines:?}");
    ensure!(!format!("{lines:?}").contains("\"word\""), "what was said is not told: {lines:?}");
    Ok(())
}

#[tokio::test]
async fn leases_are_acts_in_the_file_and_not_in_the_log() -> Result<()> {
    let (clock, leased) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let upstreams = json!([{"name": "clock", "url": clock.url()}]);
    let with_file = json!({"audit": {"file": audit::FILE}});
    let plugway = setup(&hub(&upstreams, &with_file)).start().await?;
    Registry::of(&plugway, LAB).registered("w1", leased.url()).await?;
    let acts = audit::until(&plugway, "act", 1).await?;
    ensure!(members(&acts, "action") == ["lease-register"], "{acts:?}");
    ensure!(acts[0]["who"] == "lab" && acts[0]["object"] == "hub/w1", "{acts:?}");
    ensure!(acts[0]["result"] == "done" && acts[0]["request_id"].is_string(), "{acts:?}");
    ensure!(!plugway.stderr().iter().any(|line| line.contains("\"target\":\"audit\"")));
    Ok(())
}

#[tokio::test]
async fn a_definition_that_somebody_approves_is_an_act() -> Result<()> {
    let server = Coder::start("chem", &[function("parse", "Parses.", &[], &[])]).await?;
    let locked = Hub::new("hub").upstream("chem", &server.url()).key("pin", json!("locked"));
    let plugway = audited(locked, json!({})).start().await?;
    let lock = plugway.folder().join("plugway.lock");
    let lock = lock.to_str().context("no text")?;
    let key = "hub/chem/tool/chem_check_job";
    let diff = plugway::run(&["pins", "diff", key, "--pins-file", lock]).await?.stdout;
    let command = diff.lines().find_map(|line| line.strip_prefix("$ plugway "));
    let words = command.with_context(|| format!("no command line: {diff}"))?.split(' ');
    let words: Vec<&str> = words.map(|word| if word == "WHO" { "ann" } else { word }).collect();
    let approved = plugway::run(&words).await?;
    ensure!(approved.status.success(), "{approved:?}");
    let acts = audit::until(&plugway, "act", 1).await?;
    ensure!(members(&acts, "action") == ["approve-pin"], "{acts:?}");
    ensure!(acts[0]["who"] == "ann" && acts[0]["result"] == "done", "{acts:?}");
    ensure!(acts[0]["object"].as_str().is_some_and(|object| object.contains(key)), "{acts:?}");
    Ok(())
}

#[tokio::test]
async fn lines_on_stdout_are_whole_and_stop_is_the_last() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let (scratch, kept) = (Scratch::new()?, Scratch::new()?);
    let hub = Hub::before(clock.url()).top("audit", json!({"stdout": true}));
    let configuration = scratch.write("plugway.yaml", hub.configuration())?;
    let out = kept.path().join("stdout");
    let mut command = plugway::command()?;
    command.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]).arg(configuration);
    command.stdout(File::create(&out)?).current_dir(scratch.path());
    let mut plugway = Plugway::of(command, scratch).await?;
    plugway.wait_until_ready().await?;
    plugway.wait_until_connected(&["clock"]).await?;
    let client = plugway.modern();
    for _ in 0..3 {
        client.call_text("clock_echo", json!({"message": "x"})).await?;
    }
    ensure!(plugway.stop().await?.success());
    let text = fs::read_to_string(out)?;
    ensure!(text.ends_with('\n'), "{text}");
    let lines: Vec<Value> =
        text.lines().map(serde_json::from_str).collect::<Result<_, _>>().context(text.clone())?;
    let kinds = members(&lines, "kind");
    ensure!(kinds.first() == Some(&"start") && kinds.last() == Some(&"stop"), "{kinds:?}");
    ensure!(kinds.iter().filter(|kind| **kind == "call").count() == 3, "{kinds:?}");
    Ok(())
}
