//! `cargo xtask bench`: builds plugway and `plugway-bench` for release, then lets the latter measure.

use anyhow::Result;

use crate::{run, workspace};

/// Passes the words on to `plugway-bench run`.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    println!("building for release; the first time this takes 10 minutes or more on 2 cores");
    run::finish(run::cargo(&[
        "build",
        "--release",
        "--locked",
        // The whole workspace: a smaller selection has other features, and everything would be compiled again.
        "--workspace",
        "--bins",
    ]))?;
    let release = workspace::target()?.join("release");
    let mut bench = run::command(release.join("plugway-bench"));
    bench.arg("run").arg(release.join("plugway")).args(words);
    run::finish(bench)
}
