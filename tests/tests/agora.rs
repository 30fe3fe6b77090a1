//! Configurations of agora-workbench: what its program prints, and its environment, each served as it is.
//!
//! The files in `tests/agora` were printed by `model_dump_json()` of agora-workbench 0.4.2.

use std::{fs, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Plugway, Recorder, binary,
    faulty::{Faulty, Handler, good},
    plugway::{Output, Setup, command, run_in},
    rpc::Client,
    scratch::Scratch,
    wait,
};
use serde_json::{Value, json};

const CHANGED_WITHIN: Duration = Duration::from_secs(10);

fn printed(name: &str) -> Result<String> {
    let path = binary::repository().join(format!("tests/agora/{name}.json"));
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// What `check` says of a file, by whatever name.
async fn check(text: &str) -> Result<Output> {
    let scratch = Scratch::new()?;
    scratch.write("hub.json", text)?;
    run_in(scratch.path(), &[], &["check", "hub.json"]).await
}

/// A plugway that reads the environment alone, in an empty folder.
async fn from_environment(variables: &[(&str, &str)]) -> Result<Plugway> {
    let scratch = Scratch::new()?;
    let mut command = command()?;
    command.args(["serve", "--log-format", "json"]).current_dir(scratch.path());
    command.envs(variables.iter().copied());
    let mut plugway = Plugway::of(command, scratch).await?;
    plugway.wait_until_ready().await?;
    Ok(plugway)
}

#[tokio::test]
async fn what_the_program_prints_is_taken_or_refused_in_one_sentence_each() -> Result<()> {
    let taken: [(&str, &[&str]); 4] = [
        (
            "gateway",
            &[
                "connector gate at /mcp",
                "router router (configured: unified_tools)",
                "policy gateway (configured: blocked_tools, max_calls_per_minute)",
                "upstream chem: http://127.0.0.1:8001/, with the client's credential; prefix never\n",
                "makes this a GatewayConfig of agora-workbench: the credential of whoever calls goes to chem",
            ],
        ),
        ("router_bridges", &["router router (configured: bridges, unified_tools)"]),
        (
            "router_minimal",
            &[
                "listens on 127.0.0.1:9000",
                "connector hub at /mcp",
                "upstream chem: http://127.0.0.1:8001/, with the client's credential; prefix always\n",
                "makes this a RouterConfig of agora-workbench: the credential of whoever calls goes to chem",
            ],
        ),
        (
            "router_full",
            &[
                "connector lab at /mcp",
                "upstream chem: http://127.0.0.1:8001/, with the client's credential; prefix always, \
                 compute_descriptors shown as chem_descriptors, offers only compute_*, parse_molecule \
                 (its functions, where it runs code)\n",
                "upstream gis: https://tools.example.com/gis/mcp, with the client's credential; prefix \
                 always\n",
                "upstream all: http://127.0.0.1:8003/mcp, with the client's credential; prefix always\n",
            ],
        ),
    ];
    let refused = [
        ("router_entra", 2, "`entra_client_id` does nothing yet: tokens of Microsoft Entra"),
        ("dispatcher", 1, "`workers` makes this a DispatcherConfig of agora-workbench"),
    ];
    for (name, parts) in taken {
        let output = check(&printed(name)?).await?;
        ensure!(output.status.success() && output.stdout.ends_with("ok\n"), "{output:?}");
        for part in parts {
            ensure!(output.stdout.contains(part), "{name}: no `{part}` in\n{}", output.stdout);
        }
    }
    for (name, errors, sentence) in refused {
        let output = check(&printed(name)?).await?;
        ensure!(output.status.code() == Some(1), "{name}: {output:?}");
        ensure!(output.stderr.contains(sentence), "{name}: {}", output.stderr);
        let said = output.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        ensure!(said == errors, "{name}: {}", output.stderr);
    }
    let files = fs::read_dir(binary::repository().join("tests/agora"))?.count();
    ensure!(files == taken.len() + refused.len(), "{files} files");
    Ok(())
}

#[tokio::test]
async fn a_printed_file_is_served_and_read_again() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let base = format!("http://{}", clock.address());
    let text = printed("router_minimal")?.replace("http://127.0.0.1:8001", &base);
    ensure!(text.contains(&base));
    let plugway = Setup::new(text.clone()).start().await?;
    let client = plugway.legacy().await?;
    ensure!(client.call_text("chem_echo", json!({"message": "hi"})).await?.contains("hi"));
    let more = text.replace(r#""description":"""#, r#""description":"of the lab""#);
    let more = more.replace(r#""expose_tools":null"#, r#""expose_tools":["ec*"]"#);
    plugway.reconfigure(&more.replace(r#""name":"chem""#, r#""name":"other""#))?;
    wait::until("only the tools of the new file are listed", CHANGED_WITHIN, async || {
        let names = plugway.modern().tool_names().await?;
        Ok((names == ["other_echo", "hub_status", "search_hub_tools"]).then_some(()))
    })
    .await?;
    let again = plugway.legacy().await?;
    let instructions = again.initialized().and_then(|result| result.get("instructions"));
    let is_said = instructions.and_then(Value::as_str);
    ensure!(is_said.is_some_and(|text| text.contains("of the lab")), "{instructions:?}");
    ensure!(plugway.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn an_environment_is_served_with_the_credentials_of_callers() -> Result<()> {
    let (clock, recorder) = (DemoHttp::start(&[]).await?, Recorder::start().await?);
    let plugway = from_environment(&[
        ("UPSTREAM_CLOCK_URL", &format!("http://{}", clock.address())),
        ("UPSTREAM_LAB_URL", &recorder.url()),
        ("CONNECTOR_NAME", "hub"),
        ("CONNECTOR_PORT", "0"),
    ])
    .await?;
    plugway.wait_until_connected(&["clock", "lab"]).await?;
    let names = plugway.modern().tool_names().await?;
    for tool in ["clock_echo", "lab_look", "hub_status"] {
        ensure!(names.iter().any(|name| name == tool), "no {tool} in {names:?}");
    }
    for client in [
        Client::legacy_as(plugway.address(), "/mcp", "s3cret-of-a-caller").await?,
        Client::modern_as(plugway.address(), "/mcp", "s3cret-of-a-caller"),
    ] {
        ensure!(client.call_text("clock_echo", json!({"message": "hi"})).await?.contains("hi"));
        client.call_text("lab_look", json!({"text": "hi"})).await?;
        let headers = recorder.last()?.headers;
        let seen = headers.get("authorization").and_then(|value| value.to_str().ok());
        ensure!(seen == Some("Bearer s3cret-of-a-caller"), "{headers:?}");
    }
    ensure!(!plugway.stderr().join("\n").contains("s3cret"), "a credential in the log");
    ensure!(plugway.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn a_file_counts_before_the_environment() -> Result<()> {
    let scratch = Scratch::new()?;
    let variables = [("UPSTREAM_A_URL", "http://127.0.0.1:1")];
    let without = run_in(scratch.path(), &variables, &["check"]).await?;
    ensure!(without.stdout.contains("listens on 127.0.0.1:8000 (said by: default)"), "{without:?}");
    ensure!(without.stdout.contains("upstream a: http://127.0.0.1:1/"), "{without:?}");
    scratch
        .write("plugway.yaml", "name: hub\nupstreams: [{name: b, url: 'http://127.0.0.1:2'}]\n")?;
    let with = run_in(scratch.path(), &variables, &["check"]).await?;
    ensure!(
        with.stdout.contains("upstream b: ") && !with.stdout.contains("upstream a"),
        "{with:?}"
    );
    let warning =
        "warning: plugway.yaml: is served, although the environment describes a connector";
    ensure!(with.stdout.contains(warning), "{with:?}");
    let named = run_in(scratch.path(), &variables, &["check", "plugway.yaml"]).await?;
    ensure!(named.status.success() && !named.stdout.contains("warning: "), "{named:?}");
    Ok(())
}

#[tokio::test]
async fn one_connector_of_them_goes_over_pipes_too() -> Result<()> {
    let scratch = Scratch::new()?;
    // Nobody writes to it, so it ends.
    let served = run_in(scratch.path(), &[("UPSTREAM_A_URL", "http://127.0.0.1:1")], &["stdio"]);
    let served = served.await?;
    ensure!(served.status.success() && !served.stderr.contains("error: "), "{served:?}");
    let silent = run_in(scratch.path(), &[("CONNECTOR_PORT", "1")], &["stdio"]).await?;
    ensure!(silent.status.code() == Some(1), "{silent:?}");
    for part in ["error: the configuration plugway.yaml cannot be read", "UPSTREAM_<NAME>_URL"] {
        ensure!(silent.stderr.contains(part), "{silent:?}");
    }
    Ok(())
}

/// A server that runs code: its own name is another than the configured one.
const RUNS_CODE: Handler = |message: &Value, _| {
    let (status, media, header, body) = good(message);
    let body = body.replace(r#""name":"faulty""#, r#""name":"chemistry-executor""#);
    let body = body.replace(r#""name":"good""#, r#""name":"execute_chemistry_code""#);
    let body = body.replace(r#""name":"bad""#, r#""name":"chemistry_check_job""#);
    Some((status, media, header, body))
};

#[tokio::test]
async fn globs_of_functions_hide_no_tool_of_a_server_that_runs_code() -> Result<()> {
    let (runs_code, other) = (Faulty::start(RUNS_CODE).await?, Faulty::start(|_, _| None).await?);
    for (globs, aliases, code_tools) in [
        ("expose_tools", "tool_aliases", &["chem_check_job", "execute_chem_code"][..]),
        ("expose", "aliases", &["job"]),
    ] {
        let plugway = Plugway::start(format!(
            "name: hub\nstatus: false\nupstreams:\n- {{name: chem, url: '{}', {globs}: ['*_job'], \
             {aliases}: {{chemistry_check_job: job}}}}\n- {{name: other, url: '{}', {globs}: ['g*']}}\n",
            runs_code.url(),
            other.url()
        ))
        .await?;
        let client = plugway.legacy().await?;
        let mut names = client.tool_names().await?;
        names.sort();
        let wanted: Vec<_> = code_tools.iter().copied().chain(["other_good"]).collect();
        // Their form has the tools of their connector, too.
        let more = (globs == "expose_tools").then_some("search_hub_tools");
        ensure!(names == [&wanted[..], more.as_slice()].concat(), "{globs}: {names:?}");
        for name in wanted {
            ensure!(client.call_text(name, json!({})).await? == "fine", "{globs}: {name}");
        }
        ensure!(plugway.stop().await?.success());
    }
    Ok(())
}
