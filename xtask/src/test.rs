//! `cargo xtask test`: everything that must pass, cheap steps first, one build profile throughout.
//!
//! Every build names the whole workspace and its tests, so that features are unified in one way and wasmtime is
//! compiled once (besides the metadata that clippy and rustdoc share).

use std::{fs, path::Path, time::Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{demo, peers, run, tidy, workspace};

const WASM: &str = "wasm32-wasip2";

/// Runs all steps; the first one that fails ends the run.
pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    let peers = Peers::find()?;

    run::step("format", format)?;
    run::step("house rules", tidy::run)?;
    run::step("clippy", || clippy(&["--workspace", "--all-targets"]))?;
    run::step("clippy for WebAssembly", clippy_wasm)?;
    run::step("components", components)?;
    if matches!(peers, Peers::Here) {
        run::step("real peers", peers::install)?;
    }
    run::step("components are valid", validate)?;
    run::step("build", || cargo(&["build", "--workspace", "--bins", "--tests"]))?;
    run::step("tests", || tests(&peers))?;
    run::step("doc tests", || cargo(&["test", "--doc", "--workspace"]))?;
    run::step("documentation", documentation)?;
    run::step("benchmarks run", benchmarks)?;
    run::step("fuzz targets compile", fuzz)?;
    run::step("try", || demo::run(demo::Then::End))?;

    println!("\nall steps passed in {:.0} s", start.elapsed().as_secs_f64());
    if let Peers::Missing(reason) = peers {
        println!("left out: the tests against real peers (named `peer_..`); {reason}");
    }
    Ok(())
}

enum Peers {
    Here,
    Missing(String),
}

impl Peers {
    fn find() -> Result<Self> {
        match peers::missing_runtime() {
            None => Ok(Self::Here),
            Some(reason) if run::is_ci() => bail!("{reason}; with CI set nothing may be left out"),
            Some(reason) => Ok(Self::Missing(reason)),
        }
    }
}

fn cargo(words: &[&str]) -> Result<()> {
    let mut command = run::cargo(words);
    command.arg("--locked");
    run::finish(command)
}

fn format() -> Result<()> {
    run::finish(run::cargo(&["fmt", "--all", "--check"]))?;
    if has("fuzz/Cargo.toml") {
        run::finish(run::cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    }
    Ok(())
}

fn clippy(words: &[&str]) -> Result<()> {
    let mut command = run::cargo(&["clippy", "--locked"]);
    command.args(words).args(["--", "-D", "warnings"]);
    run::finish(command)
}

fn clippy_wasm() -> Result<()> {
    let packages = package_words()?;
    let mut words: Vec<&str> = packages.iter().map(String::as_str).collect();
    words.extend(["--lib", "--examples", "--target", WASM]);
    clippy(&words)
}

/// What the tests load: guests and the example plugin, as an operator would build them.
pub(crate) fn components() -> Result<()> {
    let packages = package_words()?;
    let mut words = vec!["build", "--release", "--target", WASM, "--target-dir", "target/guests"];
    words.extend(["--lib", "--examples"]);
    words.extend(packages.iter().map(String::as_str));
    cargo(&words)
}

fn package_words() -> Result<Vec<String>> {
    let packages = workspace::guest_packages()?;
    Ok(packages.into_iter().flat_map(|name| ["-p".to_owned(), name]).collect())
}

/// Validates every component, where wasm-tools is installed.
fn validate() -> Result<()> {
    let Some(tool) = peers::python_tool("wasm-tools") else {
        ensure!(!run::is_ci(), "wasm-tools is not installed; with CI set nothing may be left out");
        println!("left out: wasm-tools is not installed (`cargo xtask peers` installs it)");
        return Ok(());
    };
    let release = workspace::root().join("target/guests").join(WASM).join("release");
    let mut count = 0_u32;
    for folder in [release.clone(), release.join("examples")] {
        for path in components_in(&folder)? {
            let mut command = run::command(&tool);
            command.args(["validate", "--features", "component-model"]).arg(path);
            run::finish(command)?;
            count += 1;
        }
    }
    println!("{count} components are valid");
    Ok(())
}

fn components_in(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn tests(peers: &Peers) -> Result<()> {
    let mut command = run::cargo(&["nextest", "run", "--workspace", "--profile", "ci", "--locked"]);
    if matches!(peers, Peers::Missing(_)) {
        command.args(["-E", "not test(/(^|::)peers?(_|::)/)"]);
    }
    run::finish(command).context("is cargo-nextest installed? cargo install cargo-nextest --locked")
}

fn documentation() -> Result<()> {
    let mut command =
        run::cargo(&["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run::finish(command)
}

/// Each benchmark runs once, unoptimised: only that it runs is looked at.
fn benchmarks() -> Result<()> {
    if !has("host/benches") {
        println!("there are none yet");
        return Ok(());
    }
    cargo(&["test", "--workspace", "--bench", "*"])
}

fn fuzz() -> Result<()> {
    if !has("fuzz/Cargo.toml") {
        println!("there are none yet");
        return Ok(());
    }
    // Its own workspace, but the same target folder: what clippy checked already is not checked again.
    let target = workspace::target()?.display().to_string();
    cargo(&["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", &target])
}

fn has(path: &str) -> bool {
    workspace::root().join(path).exists()
}
