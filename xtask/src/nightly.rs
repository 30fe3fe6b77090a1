//! `cargo xtask nightly`: checks too slow for every change. Tools are installed at pinned versions when missing.

use anyhow::{Context as _, Result, ensure};

use crate::{peers, run, soak, workspace};

const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
const MACHETE: Tool = Tool { name: "cargo-machete", version: "0.9.2" };
const FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };
const FUZZ_SECONDS: u32 = 300;

/// Runs all of them; the first one that fails ends the run.
pub(crate) fn run() -> Result<()> {
    run::step("licences, bans, sources", || {
        DENY.ensure()?;
        run::finish(run::cargo(&["deny", "--locked", "check", "bans", "licenses", "sources"]))
    })?;
    run::step("unused dependencies", || {
        MACHETE.ensure()?;
        run::finish(run::cargo(&["machete"]))
    })?;
    run::step("spelling", spelling)?;
    run::step("soaks", soak::all)?;
    run::step("fuzz runs", fuzz)
}

struct Tool {
    name: &'static str,
    version: &'static str,
}

impl Tool {
    fn ensure(&self) -> Result<()> {
        let subcommand = self.name.trim_start_matches("cargo-");
        let found = run::output("cargo", &[subcommand, "--version"]);
        if found.is_some_and(|line| line.split_whitespace().any(|word| word == self.version)) {
            return Ok(());
        }
        let words = ["install", self.name, "--locked", "--version", self.version];
        run::finish(run::cargo(&words))
    }
}

fn spelling() -> Result<()> {
    peers::install()?;
    let tool = peers::python_tool("typos").context("`typos` is not among the installed peers")?;
    run::finish(run::command(tool))
}

/// Every target for five minutes from its committed seeds, on the nightly toolchain that sanitizers need.
fn fuzz() -> Result<()> {
    if !workspace::root().join("fuzz/Cargo.toml").exists() {
        println!("there are no fuzz targets yet");
        return Ok(());
    }
    FUZZ.ensure()?;
    let targets = run::output("cargo", &["+nightly", "fuzz", "list"])
        .context("fuzz runs need a nightly toolchain: rustup toolchain install nightly")?;
    ensure!(!targets.is_empty(), "fuzz/ lists no targets");
    for target in targets.lines() {
        println!("-- {target}, {FUZZ_SECONDS} s");
        let limit = format!("-max_total_time={FUZZ_SECONDS}");
        let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
        std::fs::create_dir_all(workspace::root().join(&corpus))?;
        let mut command = run::command("cargo");
        command.args(["+nightly", "fuzz", "run", target, &corpus, &seeds, "--", &limit]);
        run::finish(command)?;
    }
    Ok(())
}
