//! A `GatewayConfig` of agora-workbench: one server behind its own names, from a file and from the environment.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Plugway,
    faulty::{Faulty, Handler, good},
    plugway::{command, run_in},
    rpc::Client,
    scratch::Scratch,
};
use serde_json::{Value, json};

/// A server that runs code: its own name is another than the configured one.
const RUNS_CODE: Handler = |message: &Value, _| {
    let (status, media, header, body) = good(message);
    let body = body.replace(r#""name":"faulty""#, r#""name":"chemistry-executor""#);
    let body = body.replace(r#""name":"good""#, r#""name":"execute_chemistry_code""#);
    let body = body.replace(r#""name":"bad""#, r#""name":"parallel_execute""#);
    Some((status, media, header, body))
};

/// What `model_dump_json()` prints of a gateway without a policy.
fn printed(url: &str) -> String {
    json!({
        "name": "gate", "description": "", "entra_client_id": null, "entra_tenant_id": null,
        "upstream": {"name": "chem", "url": url, "expose_tools": null, "tool_aliases": {}},
        "policy": {"allowed_tools": null, "blocked_tools": [], "max_calls_per_minute": null},
    })
    .to_string()
}

async fn names(plugway: &Plugway) -> Result<Vec<String>> {
    let mut names = plugway.legacy().await?.tool_names().await?;
    names.sort();
    Ok(names)
}

#[tokio::test]
async fn a_server_that_runs_code_has_the_names_of_the_reference() -> Result<()> {
    let server = Faulty::start(RUNS_CODE).await?;
    let base = server.url();
    let base = base.trim_end_matches("/mcp");
    let yaml = format!("form: agora\nname: gate\nupstream: {{name: chem, url: '{base}'}}\n");
    for form in [printed(base), yaml] {
        let plugway = Plugway::start(form).await?;
        plugway.wait_until_connected(&["chem"]).await?;
        let wanted = ["execute_chem_code", "gate_status", "parallel_execute", "search_gate_tools"];
        ensure!(names(&plugway).await? == wanted, "{:?}", names(&plugway).await?);
        let client = plugway.legacy().await?;
        ensure!(client.call_text("execute_chem_code", json!({})).await? == "fine");
        let found = client.call_text("search_gate_tools", json!({"query": "execute"})).await?;
        ensure!(found.contains("execute_chem_code"), "{found}");
        ensure!(plugway.stop().await?.success());
    }
    Ok(())
}

/// A call of a tool: the text of its result, and whether it is an error.
async fn call(client: &Client, tool: &str) -> Result<(String, bool)> {
    let result = client.call_tool(tool, json!({"code": "1", "inputs": []})).await?;
    let text = result.pointer("/content/0/text").and_then(Value::as_str).context("no text")?;
    Ok((text.to_owned(), result.get("isError") == Some(&json!(true))))
}

fn is_limited((text, is_error): &(String, bool), calls: u32) -> bool {
    let sentence = format!("Rate limit exceeded: maximum {calls} calls per minute.");
    *is_error && text.contains(&sentence)
}

/// As the reference says it.
fn blocked(tool: &str) -> (String, bool) {
    let text =
        format!(r#"{{"success": false, "error": "Tool '{tool}' is blocked by gateway policy."}}"#);
    (text, true)
}

#[tokio::test]
async fn the_policy_of_a_form_holds() -> Result<()> {
    let server = Faulty::start(RUNS_CODE).await?;
    let base = server.url();
    let base = base.trim_end_matches("/mcp");
    let rest = r#""blocked_tools":[],"max_calls_per_minute":null"#;
    let written = r#""blocked_tools":["parallel_execute"],"max_calls_per_minute":2"#;
    let json = printed(base).replace(rest, written);
    let yaml = format!(
        "form: agora\nname: gate\nupstream: {{name: chem, url: '{base}'}}\npolicy:\n  blocked_tools: [parallel_execute]\n  max_calls_per_minute: 2\n"
    );
    ensure!(json.contains(written), "{json}");
    for form in [json, yaml] {
        let plugway = Plugway::start(form).await?;
        plugway.wait_until_connected(&["chem"]).await?;
        let wanted = ["execute_chem_code", "gate_status", "search_gate_tools"];
        ensure!(names(&plugway).await? == wanted, "{:?}", names(&plugway).await?);
        for client in [plugway.legacy().await?, plugway.modern()] {
            ensure!(call(&client, "parallel_execute").await? == blocked("parallel_execute"));
            for _ in 0..2 {
                let said = call(&client, "execute_chem_code").await?;
                ensure!(said == ("fine".to_owned(), false), "{said:?}");
            }
            let said = call(&client, "execute_chem_code").await?;
            ensure!(is_limited(&said, 2), "{said:?}");
        }
        ensure!(plugway.stop().await?.success());
    }
    Ok(())
}

#[tokio::test]
async fn any_server_may_stand_behind_one_and_keeps_its_names() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let inner = Plugway::start(format!(
        "name: inner\nupstreams: [{{name: clock, url: '{}'}}]\n",
        clock.url()
    ))
    .await?;
    inner.wait_until_connected(&["clock"]).await?;
    let outer = Plugway::start(printed(&inner.base_url())).await?;
    outer.wait_until_connected(&["chem"]).await?;
    let names = names(&outer).await?;
    for name in ["clock_echo", "inner_status", "gate_status", "search_gate_tools"] {
        ensure!(names.iter().any(|known| known == name), "no {name} in {names:?}");
    }
    let text = outer.legacy().await?.call_text("clock_echo", json!({"message": "hi"})).await?;
    ensure!(text.contains("hi"), "{text}");
    Ok(())
}

#[tokio::test]
async fn the_environment_describes_one() -> Result<()> {
    let server = Faulty::start(RUNS_CODE).await?;
    let plugway = described(&server, &[]).await?;
    let wanted = ["execute_chem_code", "gate_status", "parallel_execute", "search_gate_tools"];
    ensure!(names(&plugway).await? == wanted, "{:?}", names(&plugway).await?);
    ensure!(plugway.stop().await?.success());

    let policy = [
        ("GATEWAY_ALLOWED_TOOLS", "execute_code, parallel_execute"),
        ("GATEWAY_BLOCKED_TOOLS", "parallel_execute, dock"),
        ("GATEWAY_MAX_CALLS_PER_MINUTE", "1"),
    ];
    let plugway = described(&server, &policy).await?;
    let wanted = ["execute_chem_code", "gate_status", "search_gate_tools"];
    ensure!(names(&plugway).await? == wanted, "{:?}", names(&plugway).await?);
    for client in [plugway.legacy().await?, plugway.modern()] {
        ensure!(call(&client, "parallel_execute").await? == blocked("parallel_execute"));
        ensure!(!call(&client, "execute_chem_code").await?.1, "what is blocked was counted");
        let said = call(&client, "execute_chem_code").await?;
        ensure!(is_limited(&said, 1), "{said:?}");
    }
    ensure!(plugway.stop().await?.success());

    // What alone is allowed is another tool.
    let plugway = described(&server, &[("GATEWAY_ALLOWED_TOOLS", "parallel_execute")]).await?;
    let wanted = ["gate_status", "parallel_execute", "search_gate_tools"];
    ensure!(names(&plugway).await? == wanted, "{:?}", names(&plugway).await?);
    let client = plugway.modern();
    ensure!(call(&client, "execute_chem_code").await? == blocked("execute_chem_code"));
    ensure!(plugway.stop().await?.success());
    Ok(())
}

/// The gateway before this server that the environment describes, with these variables besides.
async fn described(server: &Faulty, policy: &[(&str, &str)]) -> Result<Plugway> {
    let scratch = Scratch::new()?;
    let mut command = command()?;
    command.args(["serve", "--log-format", "json"]).current_dir(scratch.path());
    command.envs([
        ("CONNECTOR_MODE", "Gateway"),
        ("CONNECTOR_NAME", "gate"),
        ("CONNECTOR_PORT", "0"),
        ("UPSTREAM_CHEM_URL", server.url().as_str()),
    ]);
    command.envs(policy.iter().copied());
    let mut plugway = Plugway::of(command, scratch).await?;
    plugway.wait_until_ready().await?;
    plugway.wait_until_connected(&["chem"]).await?;
    Ok(plugway)
}

#[tokio::test]
async fn what_is_wrong_is_said_in_the_words_of_the_reference() -> Result<()> {
    let gateway = ("CONNECTOR_MODE", "gateway");
    let (a, b) =
        (("UPSTREAM_A_URL", "http://127.0.0.1:1"), ("UPSTREAM_B_URL", "http://127.0.0.1:2"));
    for (variables, sentence) in [
        (
            &[gateway, a, b][..],
            "error: Gateway mode requires exactly one upstream, but found 2: ['a', 'b']\n\
             hint: use CONNECTOR_MODE=router for multiple upstreams",
        ),
        (
            &[gateway, a, ("GATEWAY_MAX_CALLS_PER_MINUTE", "x")],
            "error: `GATEWAY_MAX_CALLS_PER_MINUTE` is `x`. Must be an integer",
        ),
        (
            &[gateway, a, ("GATEWAY_MAX_CALLS_PER_MINUTE", "0")],
            "error: `GATEWAY_MAX_CALLS_PER_MINUTE` is 0, with which nobody could call anything",
        ),
        (
            &[a, ("GATEWAY_BLOCKED_TOOLS", "send")],
            "error: `GATEWAY_BLOCKED_TOOLS` does nothing in the mode `router`",
        ),
    ] {
        let scratch = Scratch::new()?;
        let output = run_in(scratch.path(), variables, &["check"]).await?;
        ensure!(output.status.code() == Some(1), "{output:?}");
        ensure!(output.stderr.contains(sentence), "no {sentence}\nin {}", output.stderr);
    }
    Ok(())
}
