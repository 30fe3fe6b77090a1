//! `cargo xtask bench`: builds plugway and `plugway-bench` for release, then lets the latter measure.

use std::path::PathBuf;

use anyhow::Result;

use crate::{peers, run, workspace};

/// Passes the words on to `plugway-bench run`; after `against-reference` those to `plugway-bench against-reference`.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let release = built()?;
    let mut bench = run::command(release.join("plugway-bench"));
    let plugway = release.join("plugway");
    match words {
        ["against-reference", rest @ ..] => {
            peers::install()?;
            let scripts = workspace::root().join("tests/peers/workbench");
            bench.arg("against-reference").arg(plugway);
            bench.arg(peers::workbench_python()).arg(scripts).args(rest);
        }
        _ => {
            bench.arg("run").arg(plugway).args(words);
        }
    }
    run::finish(bench)
}

/// The folder of what was built.
fn built() -> Result<PathBuf> {
    println!("building for release; the first time this takes 10 minutes or more on 2 cores");
    run::finish(run::cargo(&[
        "build",
        "--release",
        "--locked",
        // The whole workspace: a smaller selection has other features, and everything would be compiled again.
        "--workspace",
        "--bins",
    ]))?;
    Ok(workspace::target()?.join("release"))
}
