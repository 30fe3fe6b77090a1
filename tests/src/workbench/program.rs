//! A Python program with an HTTP port, and the kernels that it starts.

use std::{collections::BTreeSet, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, ensure};
use rustix::process::Signal;
use tokio::process::{Child, Command};

use crate::{http, process, wait};

/// Imports alone take seconds on a busy machine.
pub(super) const STARTED_WITHIN: Duration = Duration::from_mins(2);
const ENDED_WITHIN: Duration = Duration::from_secs(20);

/// It and its kernels are killed with this value.
#[derive(Debug)]
pub(super) struct Program {
    port: u16,
    child: Child,
}

impl Program {
    /// Starts it, and waits until `/health` answers.
    pub(super) async fn start(mut command: Command, port: u16) -> Result<Self> {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = quiet.kill_on_drop(true).spawn().context("cannot start Python")?;
        let mut program = Self { port, child };
        wait::until("the Python server answers", STARTED_WITHIN, async || {
            let health = http::get(([127, 0, 0, 1], port).into(), "/health").await;
            Ok(health.ok().filter(|answer| answer.status == 200))
        })
        .await?;
        // Another program may have taken the port since it was found free.
        ensure!(program.child.try_wait()?.is_none(), "the Python server ended while it started");
        Ok(program)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Kills it and its kernels, and waits until they are gone.
    pub(super) async fn stop(&mut self) -> Result<()> {
        let all = self.everybody();
        self.child.kill().await?;
        kill(&all);
        process::until_gone(&all, ENDED_WITHIN).await
    }

    /// Kernels have sessions of their own, so that no signal to a group reaches them.
    fn everybody(&self) -> BTreeSet<u32> {
        self.child.id().map(process::descendants).and_then(Result::ok).unwrap_or_default()
    }
}

fn kill(processes: &BTreeSet<u32>) {
    for pid in processes {
        // One that ended meanwhile is what is wanted.
        drop(process::signal(*pid, Signal::KILL));
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let all = self.everybody();
        drop(self.child.start_kill());
        kill(&all);
    }
}
