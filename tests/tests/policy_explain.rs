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
    json!({
        "tool": "clock_add", "upstream": "clock", "own_name": "add", "runs_code": false,
        "arguments": {"a": 1},
    })
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
    let echo = json!({"tool": "clock_echo", "upstream": "clock", "runs_code": false});
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
        (json!({}), json!({"tool": "x", "functions": ["a\nb"]}), &["call.json", "`functions`"]),
        (
            json!({}),
            json!({"tool": "x", "runs_code": false, "functions": ["a"]}),
            &["call.json", "`functions`"],
        ),
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

/// A call of a tool of the server `chem`, which runs code and has two functions.
fn at_chem(own: &str, arguments: &Value) -> Value {
    json!({
        "tool": format!("chem_{own}"), "upstream": "chem", "own_name": own, "runs_code": true,
        "functions": ["parse", "dock"], "arguments": arguments,
    })
}

async fn by_gateway(config: &Value, call: &Value) -> Result<Output> {
    let hub = Hub::new("hub").upstream("chem", NOWHERE).bundled("gateway", config.clone());
    explain(&hub, &json!({"sub": "ann", "scope": "read"}), call).await
}

const ALLOWED: &str = "the call is allowed";
const REFUSED: &str = "the call is refused";
const PASSES: &str = "policy gateway lets it pass";

/// What is said where the gateway shows the tool, or does not list it, and then says this.
async fn ensure_judged(
    config: &Value,
    call: &Value,
    (listed, said): (bool, Result<&str, (&str, &str)>),
) -> Result<()> {
    let sight = if listed { "shows it" } else { "does not list it" };
    let sight = format!("policy gateway {sight}");
    match said {
        Ok(line) => ensure_said(&by_gateway(config, call).await?, 0, &[&sight, line, ALLOWED]),
        Err((name, cause)) => {
            let body = format!("Tool '{name}' is blocked by gateway policy.");
            let line = format!("policy gateway refuses it: {body} [{cause}]");
            ensure_said(&by_gateway(config, call).await?, 5, &[&sight, &line, REFUSED])
        }
    }
}

fn running(code: &str) -> Value {
    at_chem("execute_chem_code", &json!({"code": code}))
}

#[tokio::test]
async fn lists_of_the_gateway_know_short_names_and_functions() -> Result<()> {
    let reference = json!({"blocked_tools": ["parallel_execute", "dock"]});
    let parallel = at_chem("chem_parallel_execute", &json!({"code": "1", "inputs": []}));
    let listed = "`blocked_tools` names it";
    let refused = Err(("chem_chem_parallel_execute", listed));
    ensure_judged(&reference, &parallel, (false, refused)).await?;
    ensure_judged(&reference, &running("dock(1)"), (true, Err(("dock", listed)))).await?;
    ensure_judged(&reference, &running("parse('dock')"), (true, Ok(PASSES))).await?;
    let allowed = json!({"allowed_tools": ["parse"]});
    let refused = Err(("dock", "`allowed_tools` does not name it"));
    ensure_judged(&allowed, &running("dock(1)"), (true, refused)).await
}

#[tokio::test]
async fn rules_of_the_gateway_are_named() -> Result<()> {
    let rule = |name: &str, act: Value| {
        let mut rule = json!({"name": name, "when": {"tool": "execute_code"}});
        if let (Some(rule), Value::Object(act)) = (rule.as_object_mut(), act) {
            rule.extend(act);
        }
        json!({"rules": [rule]})
    };
    let call = running("1");
    let name = "chem_execute_chem_code";
    let scope = json!({"not": {"scope": "write"}, "tool": "execute_code"});
    let deny = rule("no writers", json!({"when": scope, "do": "deny"}));
    ensure_judged(&deny, &call, (false, Err((name, "the rule no writers")))).await?;
    let other = json!([{"when": {"upstream": "other"}, "do": "allow"}]);
    let default = json!({"default": "deny", "rules": other});
    ensure_judged(&default, &call, (false, Err((name, "the rule default")))).await?;
    let limit = rule("slow", json!({"do": "limit", "limit": {"per_minute": 1}}));
    ensure_judged(&limit, &call, (true, Ok(&format!("{PASSES} [slow]")))).await?;
    let asked = by_gateway(&rule("ask", json!({"do": "confirm"})), &call).await?;
    ensure!(asked.status.code() == Some(0), "{asked:?}");
    let wants = "policy gateway wants a person to confirm it: chem/execute_chem_code";
    ensure!(asked.stdout.contains(wants), "{}", asked.stdout);
    let end = "the call is allowed once a person has confirmed it\n";
    ensure!(asked.stdout.ends_with(end), "{}", asked.stdout);
    Ok(())
}

#[tokio::test]
async fn code_is_judged_by_the_lists_of_visibility() -> Result<()> {
    let lists = json!({"tools": {"disabled": ["dock"]}});
    let hub = Hub::new("hub").upstream("chem", NOWHERE).bundled("visibility", lists);
    let run = |code: &str| at_chem("execute_chem_code", &json!({"code": code}));
    let passes = ["policy visibility shows it", "policy visibility lets it pass", ALLOWED];
    ensure_said(&explain(&hub, &json!({}), &run("parse(1)")).await?, 0, &passes)?;
    let output = explain(&hub, &json!({}), &run("dock(1)")).await?;
    ensure!(output.status.code() == Some(5), "{output:?}");
    let cause = "[the code uses the function dock, which the lists hide]";
    ensure!(output.stdout.contains(cause) && !output.stderr.contains("dock"), "{output:?}");
    Ok(())
}

#[tokio::test]
async fn what_nobody_said_of_the_server_is_noted() -> Result<()> {
    let config = json!({"blocked_tools": ["parallel_execute", "dock"]});
    let mut call = at_chem("chem_parallel_execute", &json!({"inputs": []}));
    for (gone, note) in [
        ("functions", Some("note: functions were not considered;")),
        ("runs_code", Some("note: short names and functions were not considered;")),
        ("upstream", None),
    ] {
        if let Some(members) = call.as_object_mut() {
            members.remove(gone);
        }
        let output = by_gateway(&config, &call).await?;
        let last = output.stdout.lines().next_back().unwrap_or_default();
        match note {
            Some(note) => ensure!(last.starts_with(note), "{gone}: {output:?}"),
            None => ensure!(last == ALLOWED, "{gone}: {output:?}"),
        }
        // Without the short name it is a tool like any other.
        ensure!((output.status.code() == Some(5)) == (gone == "functions"), "{output:?}");
    }
    Ok(())
}
