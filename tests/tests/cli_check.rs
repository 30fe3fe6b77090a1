//! The command line without serving: version, help, `check`; exit codes and sentences.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    binary,
    plugway::{Output, run, run_in},
    scratch::Scratch,
};

const GOOD: &str = "name: hub\nupstreams: [{name: a, url: 'http://127.0.0.1:1/mcp'}]\n";

/// Checks a file with this text; every part must be in what it complains.
async fn check(text: &str) -> Result<Output> {
    let scratch = Scratch::new()?;
    scratch.write("plugway.yaml", text)?;
    run_in(scratch.path(), &[], &["check", "plugway.yaml"]).await
}

fn ensure_complains(output: &Output, code: i32, parts: &[&str]) -> Result<()> {
    ensure!(output.status.code() == Some(code), "{output:?}");
    for part in parts {
        ensure!(output.stderr.contains(part), "no `{part}` in\n{}", output.stderr);
    }
    // Sentences and hints, no names of types or traces.
    let mut lines = output.stderr.lines();
    let first = lines.next().unwrap_or_default();
    ensure!(first.starts_with("error: "), "{}", output.stderr);
    for leak in ["panicked", "RUST_BACKTRACE", "Os {", "Err("] {
        ensure!(!output.stderr.contains(leak), "{}", output.stderr);
    }
    Ok(())
}

#[tokio::test]
async fn version_and_help_are_on_stdout() -> Result<()> {
    let version = run(&["--version"]).await?;
    ensure!(version.status.success() && version.stderr.is_empty(), "{version:?}");
    ensure!(version.stdout == concat!("plugway ", env!("CARGO_PKG_VERSION"), "\n"), "{version:?}");
    let help = run(&["--help"]).await?;
    ensure!(help.status.success());
    for word in ["serve", "check", "import", "schema", "try", "Exit codes:", "--log-format"] {
        ensure!(help.stdout.contains(word), "no {word} in the help");
    }
    Ok(())
}

#[tokio::test]
async fn the_schema_and_the_reference_are_what_is_checked_in() -> Result<()> {
    for (words, file) in [
        (&["schema"][..], "schema/plugway.json"),
        (&["schema", "--format", "markdown"], "docs/config.md"),
    ] {
        let output = run(words).await?;
        ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let checked_in = fs::read_to_string(binary::repository().join(file))?;
        ensure!(output.stdout == checked_in, "{file} is not what plugway prints");
    }
    Ok(())
}

#[tokio::test]
async fn a_wrong_command_line_ends_with_2() -> Result<()> {
    for words in [&[][..], &["no-such-command"], &["serve", "--no-such-flag"], &["serve", "a", "b"]]
    {
        let output = run(words).await?;
        ensure!(output.status.code() == Some(2), "{words:?}: {output:?}");
        ensure!(output.stdout.is_empty() && !output.stderr.is_empty(), "{words:?}: {output:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_good_configuration_is_explained() -> Result<()> {
    let output = check(GOOD).await?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    for part in ["listens on 127.0.0.1:9000", "connector hub at /mcp", "upstream a: http://127"] {
        ensure!(output.stdout.contains(part), "no `{part}` in\n{}", output.stdout);
    }
    ensure!(output.stdout.ends_with("ok\n"), "{}", output.stdout);
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_place_and_what_was_meant() -> Result<()> {
    let rows: [(&str, &[&str]); 12] = [
        (
            "name: hub\nupstream: [{name: a, url: 'http://127.0.0.1:1'}]\n",
            &["plugway.yaml:2:1:", "`upstream`", "upstreams"],
        ),
        (
            "name: hub\nupstreams:\n  - name: a\n    ulr: http://127.0.0.1:1\n",
            &["plugway.yaml:4:5:", "ulr", "`url`"],
        ),
        ("name: hub\nupstreams: []\n", &["plugway.yaml", "`upstreams`"]),
        ("name: hub\nupstreams: [{name: a}]\n", &["upstreams[0]", "url", "command"]),
        ("name: [hub\n", &["plugway.yaml:"]),
        (
            "name: hub\nlimits: {session_idle: 5}\nupstreams: [{name: a, url: 'http://127.0.0.1:1'}]\n",
            &["plugway.yaml:2:", "limits.session_idle", "30s"],
        ),
        (
            "name: hub\ntls: {}\nupstreams: [{name: a, url: 'http://127.0.0.1:1'}]\n",
            &["plugway.yaml:2:1:", "`tls`"],
        ),
        (
            "name: hub\nname: again\nupstreams: [{name: a, url: 'http://127.0.0.1:1'}]\n",
            &["plugway.yaml:2:", "name"],
        ),
        (
            "name: hub\nauth: {mode: jwt}\nupstreams: [{name: a, url: 'http://127.0.0.1:1'}]\n",
            &["plugway.yaml:2:8:", "auth.mode", "does nothing yet", "`static`"],
        ),
        (
            "name: hub\nupstreams:\n- name: a\n  url: http://127.0.0.1:1\n  auth: {mode: bearer, token: 'env://NOT_SET'}\n",
            &["plugway.yaml:5:24:", "upstreams[0].auth.token", "NOT_SET", "not set"],
        ),
        (
            "name: hub\nadmin: {lisen: '127.0.0.1:1'}\nupstreams: [{name: a, url: 'http://127.0.0.1:1'}]\n",
            &["plugway.yaml:2:9:", "admin.lisen", "did you mean `listen`?"],
        ),
        ("", &["plugway.yaml", "name"]),
    ];
    for (text, parts) in rows {
        ensure_complains(&check(text).await?, 1, parts).with_context(|| text.to_owned())?;
    }
    Ok(())
}

#[tokio::test]
async fn every_problem_is_said_at_once() -> Result<()> {
    let output = check(
        "name: hub\nlisten: nowhere\nupstreams:\n  - {name: a, url: 'ftp://x'}\n  - {name: a, command: cat, urll: x}\n",
    )
    .await?;
    ensure_complains(&output, 1, &["plugway.yaml:2:", "plugway.yaml:4:", "plugway.yaml:5:"])?;
    let errors = output.stderr.lines().filter(|line| line.starts_with("error: ")).count();
    ensure!(errors >= 3, "{}", output.stderr);
    Ok(())
}

#[tokio::test]
async fn a_missing_file_is_named() -> Result<()> {
    for command in ["check", "serve"] {
        let output = run(&[command, "no-such-file.yaml"]).await?;
        ensure_complains(&output, 1, &["no-such-file.yaml", "hint: "])?;
        let scratch = Scratch::new()?;
        let output = run_in(scratch.path(), &[], &[command]).await?;
        ensure_complains(&output, 1, &["plugway.yaml", "hint: "])?;
    }
    Ok(())
}

#[tokio::test]
async fn a_plugin_that_does_not_load_ends_with_4() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.write("bad.wasm", "this is no component")?;
    scratch.write(
        "plugway.yaml",
        format!("{GOOD}plugins: {{bad: {{file: bad.wasm}}}}\npolicies: [bad]\n"),
    )?;
    for command in [&["check"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let output = run_in(scratch.path(), &[], command).await?;
        ensure!(output.status.code() == Some(4), "{output:?}");
        ensure!(output.stderr.contains("error: ") && output.stderr.contains("bad"), "{output:?}");
    }
    Ok(())
}

#[tokio::test]
async fn every_example_is_accepted_by_the_binary() -> Result<()> {
    let examples = binary::repository().join("examples");
    let mut seen = 0;
    for topic in fs::read_dir(examples)? {
        let file = topic?.path().join("plugway.yaml");
        if file.is_file() {
            check_example(&file).await.with_context(|| file.display().to_string())?;
            seen += 1;
        }
    }
    ensure!(seen >= 4, "only {seen} examples");
    Ok(())
}

/// In a copy of its folder, with the plugin that its README says to put there.
async fn check_example(file: &Path) -> Result<()> {
    let scratch = Scratch::new()?;
    let text = fs::read_to_string(file)?;
    if text.contains("file: team_policy.wasm") {
        scratch.write("team_policy.wasm", fs::read(binary::component("rust-policy")?)?)?;
    }
    scratch.write("plugway.yaml", &text)?;
    // The variables that an example refers to: a map of tokens, or any secret.
    let tokens = r#"{"0123456789abcdef": {"client_id": "example"}}"#;
    let variables: Vec<(&str, &str)> = text
        .split("env://")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
        .map(|name| (name, if name.ends_with("_TOKENS") { tokens } else { "example" }))
        .collect();
    let output = run_in(scratch.path(), &variables, &["check", "plugway.yaml"]).await?;
    ensure!(output.status.success() && output.stdout.ends_with("ok\n"), "{output:?}");
    ensure!(!output.stdout.contains("warning:"), "{}", output.stdout);
    Ok(())
}

#[tokio::test]
async fn an_address_that_is_never_dialled_is_named() -> Result<()> {
    let output = check(
        "name: hub\nupstreams:\n- {name: meta, url: 'http://169.254.169.254/mcp'}\n\
         - {name: own, url: 'http://127.0.0.1:9000/mcp'}\n- {name: fine, url: 'http://127.0.0.1:1/mcp'}\n",
    )
    .await?;
    ensure!(output.status.success(), "{output:?}");
    for name in ["hub/meta", "hub/own"] {
        let sentence = format!("warning: upstream {name} will not be reached");
        ensure!(output.stdout.contains(&sentence), "{}", output.stdout);
    }
    ensure!(!output.stdout.contains("hub/fine will"), "{}", output.stdout);
    Ok(())
}
