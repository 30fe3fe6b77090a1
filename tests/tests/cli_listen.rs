//! Where the binary listens, who says so, and what it refuses.

use std::{net::TcpListener, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp,
    plugway::{Setup, run_in},
    scratch::Scratch,
};
use serde_json::json;

const GOOD: &str = "name: hub\nupstreams: [{name: a, url: 'http://127.0.0.1:1/mcp'}]\n";

/// What `check` says about the listener, for a file with this first line, these variables and these flags.
async fn listener(line: &str, environment: &[(&str, &str)], flags: &[&str]) -> Result<String> {
    let scratch = Scratch::new()?;
    scratch.write("plugway.yaml", format!("{line}\n{GOOD}"))?;
    let output = run_in(scratch.path(), environment, &[&["check"], flags].concat()).await?;
    let line = output.stdout.lines().find(|line| line.starts_with("listens on "));
    line.map(str::to_owned).with_context(|| format!("{output:?}"))
}

/// A line of the file, the environment, flags, and where it listens then.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str], &'a str);

#[tokio::test]
async fn flag_then_environment_then_file_then_default() -> Result<()> {
    let all = [
        ("CONNECTOR_PORT", "1001"),
        ("MCP_SERVER_PORT", "1002"),
        ("MCP_SERVER_HOST", "127.0.0.2"),
        ("PORT", "1003"),
        ("HOST", "127.0.0.3"),
    ];
    let file = "listen: 127.0.0.9:1009";
    let rows: [Row<'_>; 8] = [
        ("", &[], &[], "127.0.0.1:9000"),
        (file, &[], &[], "127.0.0.9:1009"),
        (file, &all[3..], &[], "127.0.0.3:1003"),
        (file, &all[1..], &[], "127.0.0.2:1002"),
        (file, &all, &[], "127.0.0.2:1001"),
        (file, &all[3..4], &[], "127.0.0.9:1003"),
        (file, &[("CONNECTOR_HOST", "localhost")], &[], "127.0.0.1:1009"),
        (file, &all, &["--listen", "127.0.0.7:1007"], "127.0.0.7:1007"),
    ];
    for (line, environment, flags, wanted) in rows {
        let said = listener(line, environment, flags).await?;
        ensure!(said.starts_with(&format!("listens on {wanted} ")), "{environment:?}: {said}");
    }
    Ok(())
}

#[tokio::test]
async fn the_binary_listens_where_the_environment_says() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let plugway = Setup::new(format!(
        "name: hub\nlisten: 127.0.0.1:1\nupstreams: [{{name: clock, url: '{}'}}]\n",
        upstream.url()
    ))
    .environment("CONNECTOR_HOST", "127.0.0.2")
    .environment("PORT", "0")
    .chooses_address()
    .start()
    .await?;
    ensure!(plugway.address().ip().to_string() == "127.0.0.2", "{}", plugway.address());
    let text = plugway.legacy().await?.call_text("clock_echo", json!({"message": "hi"})).await?;
    ensure!(text == "hi");
    ensure!(plugway.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn a_variable_that_is_no_port_is_refused_by_its_name() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.write("plugway.yaml", GOOD)?;
    let output = run_in(scratch.path(), &[("MCP_SERVER_PORT", "high")], &["serve"]).await?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(output.stderr.contains("MCP_SERVER_PORT"), "{}", output.stderr);
    Ok(())
}

#[tokio::test]
async fn a_taken_port_is_named_and_ends_with_3() -> Result<()> {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?.to_string();
    let scratch = Scratch::new()?;
    scratch.write("plugway.yaml", GOOD)?;
    let output = run_in(scratch.path(), &[], &["serve", "--listen", &address]).await?;
    ensure!(output.status.code() == Some(3), "{output:?}");
    ensure!(output.stderr.contains(&address) && output.stderr.contains("hint: "), "{output:?}");
    Ok(())
}

#[tokio::test]
async fn a_listener_for_others_is_refused_until_the_printed_lines_are_written() -> Result<()> {
    for command in ["check", "serve"] {
        let scratch = Scratch::new()?;
        let exposed = format!("listen: 0.0.0.0:0\n{GOOD}");
        scratch.write("plugway.yaml", &exposed)?;
        let refused = run_in(scratch.path(), &[], &[command]).await?;
        ensure!(refused.status.code() == Some(1), "{refused:?}");
        for part in ["0.0.0.0", "--accept-exposure", "authenticated", "encrypts"] {
            ensure!(refused.stderr.contains(part), "no {part} in\n{}", refused.stderr);
        }
        // What it prints is what it wants.
        let lines: Vec<&str> =
            refused.stderr.lines().skip_while(|line| *line != "exposure:").collect();
        ensure!(lines.len() >= 3, "no lines to copy in\n{}", refused.stderr);
        let lines = lines.iter().take(3).copied().collect::<Vec<_>>().join("\n");
        scratch.write("plugway.yaml", format!("{exposed}{lines}\n"))?;
        let accepted = run_in(scratch.path(), &[], &["check"]).await?;
        ensure!(accepted.status.success(), "{accepted:?}");
        ensure!(accepted.stdout.contains("other machines can reach it"), "{}", accepted.stdout);
    }
    Ok(())
}

#[tokio::test]
async fn the_flag_accepts_for_one_start_and_the_reason_is_logged() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let configuration = format!("name: hub\nupstreams: [{{name: a, url: '{}'}}]\n", upstream.url());
    let plugway = Setup::new(configuration)
        .argument("--accept-exposure")
        .argument("a closed test")
        .environment("HOST", "0.0.0.0")
        .environment("PORT", "0")
        .chooses_address()
        .start()
        .await?;
    ensure!(plugway.address().ip().is_unspecified());
    plugway.logged("a closed test", Duration::from_secs(5)).await?;
    ensure!(plugway.get("/health").await?.status == 200);
    Ok(())
}
