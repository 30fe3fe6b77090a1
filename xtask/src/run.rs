//! Running other programs, step by step, each with its name and its time.

use std::{
    ffi::OsStr,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};

use crate::workspace;

/// Runs one named step and prints how long it took.
pub(crate) fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n== {name}");
    let start = Instant::now();
    let outcome = work().with_context(|| format!("step `{name}`"));
    let mark = if outcome.is_ok() { "ok" } else { "FAILED" };
    println!("== {name}: {mark} after {:.1} s", start.elapsed().as_secs_f64());
    outcome
}

/// A command in the workspace's root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command
}

/// `cargo` with these words, of the toolchain that runs this tool.
pub(crate) fn cargo(words: &[&str]) -> Command {
    let mut command = command(option_env!("CARGO").unwrap_or("cargo"));
    command.args(words);
    command
}

/// Waits for the command and turns failure into an error that names it.
pub(crate) fn finish(mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

/// The command's output as text, or nothing when it cannot run or fails.
pub(crate) fn output(program: impl AsRef<OsStr>, words: &[&str]) -> Option<String> {
    let output = command(program).args(words).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Whether a failure to run something must fail the whole run.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}
