//! The official clients and servers that tests talk to, pinned by the lock files in `tests/peers`, installed
//! into the ignored `.cache/peers`: Node packages (with Node 22 itself on Linux x64) and two Python environments, the second
//! one with agora-workbench.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

use crate::{run, workspace};

/// The official clients and servers, the conformance suite, and tools.
const LOCKS: [&str; 3] = ["package.json", "package-lock.json", "requirements.txt"];
/// The Python environment of agora-workbench, which has pins of its own.
const WORKBENCH: &str = "workbench";
const WORKBENCH_LOCKS: [&str; 1] = ["requirements.txt"];

/// Installs what the lock files name, unless exactly that is there already.
pub(crate) fn install() -> Result<()> {
    if let Some(missing) = missing_runtime() {
        bail!("{missing}");
    }
    let (locks, home) = (workspace::root().join("tests/peers"), home());
    installed(&locks, &home, &LOCKS, || {
        node_packages(&home)?;
        python_environment(&home)
    })?;
    let home = home.join(WORKBENCH);
    installed(&locks.join(WORKBENCH), &home, &WORKBENCH_LOCKS, || python_environment(&home))
}

/// Brings a folder to what its lock files name, and marks it.
fn installed(
    locks: &Path,
    home: &Path,
    names: &[&str],
    install: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let wanted = wanted(locks, names)?;
    let marker = home.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        println!("the pinned peers are in {}", home.display());
        return Ok(());
    }
    fs::create_dir_all(home)?;
    // A half-finished installation must not look like a finished one.
    if marker.exists() {
        fs::remove_file(&marker)?;
    }
    for lock in names {
        fs::copy(locks.join(lock), home.join(lock))?;
    }
    println!("installing the pinned peers into {} (about a minute)", home.display());
    install()?;
    fs::write(&marker, wanted).context("cannot write the marker of the installed versions")
}

fn node_packages(home: &Path) -> Result<()> {
    // Not `npm ci`: it refuses a lock file in which an optional package for another system is absent.
    let mut npm = run::command("npm");
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
    npm.arg("--loglevel=error").current_dir(home);
    run::finish(npm)
}

/// The folder `python` of what `requirements.txt` pins.
fn python_environment(home: &Path) -> Result<()> {
    let environment = home.join("python");
    let mut venv = run::command("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&environment);
    run::finish(venv)?;
    let mut pip = run::command(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--require-hashes", "-r", "requirements.txt"]).current_dir(home);
    run::finish(pip)
}

/// Why peers cannot be installed here, if they cannot.
pub(crate) fn missing_runtime() -> Option<String> {
    let tools: [(&str, &[&str], &str); 3] = [
        ("node", &["--version"], "Node 20 or later"),
        ("npm", &["--version"], "npm"),
        ("python3", &["-c", "import venv, ensurepip"], "Python 3.11 or later with its venv module"),
    ];
    let absent: Vec<&str> = tools
        .iter()
        .filter(|(program, words, _)| run::output(program, words).is_none())
        .map(|(_, _, name)| *name)
        .collect();
    (!absent.is_empty()).then(|| format!("not found: {}", absent.join(", ")))
}

/// A program of the Python environment, if it is installed.
pub(crate) fn python_tool(name: &str) -> Option<PathBuf> {
    let path = home().join("python/bin").join(name);
    path.exists().then_some(path)
}

/// The interpreter with agora-workbench.
pub(crate) fn workbench_python() -> PathBuf {
    home().join(WORKBENCH).join("python/bin/python")
}

fn home() -> PathBuf {
    workspace::root().join(".cache/peers")
}

fn wanted(locks: &Path, names: &[&str]) -> Result<String> {
    let mut text = String::new();
    for lock in names {
        let path = locks.join(lock);
        text += &fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    }
    // Environments do not survive a move of the repository.
    Ok(format!("{}\n{text}", workspace::root().display()))
}
