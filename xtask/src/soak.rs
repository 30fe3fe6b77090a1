//! Volume and fault runs that take minutes. Each is a binary of `plugway-tests`, named `soak-<name>`,
//! and leaves its report under `docs/soak/`.

use std::fs;

use anyhow::{Result, bail};

use crate::{run, workspace};

/// Runs the soak of that name.
pub(crate) fn run(names: &[&str]) -> Result<()> {
    let known = known()?;
    match names {
        [name] if known.iter().any(|one| one == name) => one(name),
        [] => bail!("a name is missing; {}", listed(&known)),
        _ => bail!("no soak is named `{}`; {}", names.join(" "), listed(&known)),
    }
}

/// Runs each of them.
pub(crate) fn all() -> Result<()> {
    known()?.iter().try_for_each(|name| one(name))
}

fn one(name: &str) -> Result<()> {
    let bin = format!("soak-{name}");
    run::finish(run::cargo(&["build", "--workspace", "--bins", "--release", "--locked"]))?;
    run::finish(run::cargo(&["run", "--release", "-p", "plugway-tests", "--bin", &bin]))
}

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        "none exists yet".to_owned()
    } else {
        format!("known: {}", known.join(", "))
    }
}

fn known() -> Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(workspace::root().join("tests/src/bin")) else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for entry in entries {
        let file = entry?.file_name().to_string_lossy().into_owned();
        let name = file.strip_prefix("soak-").and_then(|rest| rest.strip_suffix(".rs"));
        names.extend(name.map(str::to_owned));
    }
    names.sort();
    Ok(names)
}
