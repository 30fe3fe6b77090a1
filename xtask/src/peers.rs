//! The official clients and servers that tests talk to, pinned by the lock files in `tests/peers`, installed
//! into the ignored `.cache/peers`: Node packages (with Node 22 itself on Linux x64) and a Python environment.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

use crate::{run, workspace};

const LOCKS: [&str; 3] = ["package.json", "package-lock.json", "requirements.txt"];

/// Installs what the lock files name, unless exactly that is there already.
pub(crate) fn install() -> Result<()> {
    if let Some(missing) = missing_runtime() {
        bail!("{missing}");
    }
    let (locks, home) = (workspace::root().join("tests/peers"), home());
    let wanted = wanted(&locks)?;
    let marker = home.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        println!("the pinned peers are in {}", home.display());
        return Ok(());
    }
    fs::create_dir_all(&home)?;
    // A half-finished installation must not look like a finished one.
    if marker.exists() {
        fs::remove_file(&marker)?;
    }
    for lock in LOCKS {
        fs::copy(locks.join(lock), home.join(lock))?;
    }

    println!("installing the pinned peers into {} (about a minute)", home.display());
    // Not `npm ci`: it refuses a lock file in which an optional package for another system is absent.
    let mut npm = run::command("npm");
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
    npm.arg("--loglevel=error");
    run::finish({
        npm.current_dir(&home);
        npm
    })?;
    let environment = home.join("python");
    let mut venv = run::command("python3");
    run::finish({
        venv.args(["-m", "venv", "--clear"]).arg(&environment);
        venv
    })?;
    let mut pip = run::command(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    run::finish({
        pip.args(["--require-hashes", "-r", "requirements.txt"]).current_dir(&home);
        pip
    })?;
    fs::write(&marker, wanted).context("cannot write the marker of the installed versions")
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

fn home() -> PathBuf {
    workspace::root().join(".cache/peers")
}

fn wanted(locks: &Path) -> Result<String> {
    let mut text = String::new();
    for lock in LOCKS {
        let path = locks.join(lock);
        text += &fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    }
    // Environments do not survive a move of the repository.
    Ok(format!("{}\n{text}", workspace::root().display()))
}
