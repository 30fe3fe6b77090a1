//! Runs the suite that `cargo xtask peers` installed.

use std::{path::PathBuf, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, ensure};
use tokio::process::Command;

use super::report::{self, Outcome, Report};
use crate::{peers::Peers, scratch::Scratch, wait};

const RUN_WITHIN: Duration = Duration::from_mins(3);
/// How long one scenario may take; the longest of the passing ones waits for tasks of some seconds.
const SCENARIO_MS: &str = "20000";

/// A revision that the suite has requirements for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// 2025-11-25, with sessions.
    Legacy,
    /// 2026-07-28, without.
    Modern,
}

impl Revision {
    /// Its date.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => crate::rpc::LEGACY,
            Self::Modern => crate::rpc::MODERN,
        }
    }
}

/// The suite.
#[derive(Debug)]
pub struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    /// Fails with the command to run when it is not installed.
    pub fn find() -> Result<Self> {
        let peers = Peers::find()?;
        let script = peers.conformance_script();
        ensure!(script.exists(), "the suite is not installed; install it: cargo xtask peers");
        Ok(Self { node: peers.node(), script })
    }

    /// Runs every server scenario of a revision against a URL, scored and unscored ones.
    pub async fn server(&self, url: &str, revision: Revision) -> Result<Report> {
        let folder = Scratch::new()?;
        let words = ["server", "--url", url, "--requirements", revision.as_str()];
        let printed = self.run(&words, &folder).await?;
        let report = report::read(folder.path())?;
        ensure!(!report.is_empty(), "the suite ran nothing:\n{printed}");
        Ok(report)
    }

    /// Runs one client scenario: the suite starts a server, and this command with the server's URL behind it.
    pub async fn client(
        &self,
        command: &str,
        scenario: &str,
        revision: Revision,
    ) -> Result<Outcome> {
        let folder = Scratch::new()?;
        let words = ["client", "--command", command, "--scenario", scenario];
        let words = [&words[..], &["--spec-version", revision.as_str()]].concat();
        let printed = self.run(&words, &folder).await?;
        let ran = std::fs::read_dir(folder.path())?.next();
        let ran = ran.with_context(|| format!("the suite ran nothing:\n{printed}"))??;
        Outcome::read(&ran.path().join("checks.json")).with_context(|| printed)
    }

    /// Runs the suite to its end; what it printed.
    async fn run(&self, words: &[&str], folder: &Scratch) -> Result<String> {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(words).args(["--timeout", SCENARIO_MS, "-o"]);
        command.arg(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
        let output = wait::within("the suite ends", RUN_WITHIN, command.output()).await??;
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ok(format!("{stdout}\n{stderr}"))
    }
}
