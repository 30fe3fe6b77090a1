//! `plugway policy explain`: what policies make of a call, policy by policy, without any server.

use anyhow::{Result, ensure};
use plugway_tests::{
    Guest, Hub,
    plugway::{Output, Setup},
};
use serde_json::{Value, json};

/// Nobody listens there: no server is asked.
const NOWHERE: &str = "http://127.0.0.1:1/mcp";
const WORDS: [&str; 6] = ["policy", "explain", "--caller", "caller.json", "--call", "call.json"];

fn with(setup: Setup, caller: &Value, call: &Value) -> Setup {
    setup.file("caller.json", caller.to_string()).file("call.json", call.to_string())
}

async fn explain(hub: &Hub, caller: &Value, call: &Value) -> Result<Output> {
    with(hub.setup()?, caller, call).run(&WORDS).await
}

fn ensure_said(output: &Output, code: i32, lines: &[&str]) -> Result<()> {
    ensure!(output.status.code() == Some(code), "{output:?}");
    let said: Vec<&str> = output.stdout.lines().collect();
    ensure!(said == lines, "{said:?}");
    Ok(())
}

fn call() -> Value {
    json!({"tool": "clock_add", "upstream": "clock", "own_name": "add", "arguments": {"a": 1}})
}

fn edits() -> Guest {
    let config = json!({"attributes": {"decided-by": "rules[3]"}});
    Guest::new("admit_edit").config(config)
}

#[tokio::test]
async fn each_policy_has_its_line_and_the_verdict_is_last() -> Result<()> {
    let merges = Guest::new("admit_edit").named("merges").config(json!({"arguments": {"b": 2}}));
    let hub = Hub::before(NOWHERE).policy(edits()).policy(merges);
    let output = explain(&hub, &json!({"sub": "ann"}), &call()).await?;
    let lines = [
        "policy admit_edit lets it pass [rules[3]]",
        "policy merges lets it pass with changes",
        "the call is allowed",
    ];
    ensure_said(&output, 0, &lines)?;
    ensure!(output.stderr.is_empty(), "{output:?}");
    Ok(())
}

#[tokio::test]
async fn a_refusal_ends_it_with_5_and_what_the_caller_would_read() -> Result<()> {
    let refuses = Guest::new("admit_reject").config(json!({"message": "Not here."}));
    let hub = Hub::before(NOWHERE)
        .policy(edits())
        .policy(refuses)
        .policy(Guest::new("admit_answer").config(json!({"text": "never asked"})));
    let output = explain(&hub, &json!({}), &call()).await?;
    let lines = [
        "policy admit_edit lets it pass [rules[3]]",
        "policy admit_reject refuses it: Not here.",
        "the call is refused",
    ];
    ensure_said(&output, 5, &lines)?;
    ensure!(output.stderr == "denied: Not here.\n", "{output:?}");
    Ok(())
}

#[tokio::test]
async fn views_count_and_scopes_are_the_callers() -> Result<()> {
    let config = json!({"hide": ["clock_add"], "unlist": ["clock_echo"], "scope": "all"});
    let hub = Hub::before(NOWHERE).policy(Guest::new("visibility_by_scope").config(config));
    let hidden = explain(&hub, &json!({"sub": "ann", "scope": "some"}), &call()).await?;
    let unknown = "the call is refused: to this caller there is no such thing";
    ensure_said(&hidden, 5, &["policy visibility_by_scope hides it", unknown])?;
    let echo = json!({"tool": "clock_echo", "upstream": "clock"});
    let unlisted = explain(&hub, &json!({"sub": "ann"}), &echo).await?;
    ensure_said(
        &unlisted,
        0,
        &["policy visibility_by_scope does not list it", "the call is allowed"],
    )?;
    let shown = explain(&hub, &json!({"sub": "ann", "scopes": ["all"]}), &call()).await?;
    ensure_said(&shown, 0, &["policy visibility_by_scope shows it", "the call is allowed"])
}

#[tokio::test]
async fn answers_and_failures_are_told_apart() -> Result<()> {
    let answers = Guest::new("admit_answer").config(json!({"text": "hello"}));
    let output = explain(&Hub::before(NOWHERE).policy(answers), &json!({}), &call()).await?;
    let answered = "the call is answered by a policy, no server is asked";
    ensure_said(&output, 0, &["policy admit_answer answers it", answered])?;
    let output =
        explain(&Hub::before(NOWHERE).policy(Guest::new("panics")), &json!({}), &call()).await?;
    ensure!(output.status.code() == Some(5), "{output:?}");
    ensure!(output.stdout.starts_with("policy panics gives no decision: "), "{output:?}");
    Ok(())
}

#[tokio::test]
async fn a_call_is_counted_by_nobody() -> Result<()> {
    let rate = Guest::new("admit_rate").config(json!({"limit": 1, "window_ms": 60_000}));
    let hub = Hub::before(NOWHERE).policy(rate);
    let setup = with(hub.setup()?, &json!({"sub": "ann"}), &call());
    for _ in 0..2 {
        let output = setup.run(&WORDS).await?;
        ensure_said(&output, 0, &["policy admit_rate lets it pass", "the call is allowed"])?;
    }
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_with_the_files_is_said() -> Result<()> {
    let hub = Hub::before(NOWHERE).policy(edits());
    for (caller, call, parts) in [
        (json!({"scope": "a"}), call(), &["caller.json", "`sub`", "hint:"][..]),
        (json!([]), call(), &["caller.json", "hint: write claims"]),
        (json!({}), json!({"name": "x"}), &["call.json", "name", "hint: write a call"]),
        (json!({}), json!({"tool": "x", "method": "tools/list"}), &["call.json", "`method`"]),
        (json!({}), json!({"tool": "x", "hints": {"readonly": true}}), &["call.json", "readonly"]),
    ] {
        let output = explain(&hub, &caller, &call).await?;
        ensure!(output.status.code() == Some(1) && output.stdout.is_empty(), "{output:?}");
        for part in parts {
            ensure!(output.stderr.contains(part), "no `{part}` in\n{}", output.stderr);
        }
    }
    let none = with(hub.setup()?, &json!({}), &call());
    let words = [&WORDS[..], &["--connector", "other"]].concat();
    let output = none.run(&words).await?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(output.stderr.contains("there is no connector `other`"), "{output:?}");
    ensure!(output.stderr.contains("--connector: hub"), "{output:?}");
    Ok(())
}
