//! The binary, run to its end.

use std::{
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::Result;
use tokio::process::Command;

use crate::{binary, wait};

const ENDED_WITHIN: Duration = Duration::from_secs(30);

/// What a run of the binary printed.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// Its whole stdout.
    pub stdout: String,
    /// Its whole stderr.
    pub stderr: String,
}

/// Runs the binary to its end, as for `plugway check FILE`; it must end within the bound of a start.
pub async fn run(arguments: &[&str]) -> Result<Output> {
    run_in(&std::env::temp_dir(), &[], arguments).await
}

/// The same in a folder and with these variables.
pub async fn run_in(
    folder: &Path,
    environment: &[(&str, &str)],
    arguments: &[&str],
) -> Result<Output> {
    let mut command = command()?;
    command.current_dir(folder).envs(environment.iter().copied()).args(arguments);
    output(command).await
}

pub(crate) async fn output(mut command: Command) -> Result<Output> {
    let output = command.stdout(Stdio::piped()).output();
    let output = wait::within("plugway ends by itself", ENDED_WITHIN, output).await??;
    Ok(Output {
        status: output.status,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// The binary with an environment that no developer's shell can change.
pub fn command() -> Result<Command> {
    let mut command = Command::new(binary::find("plugway")?);
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    for name in ["PATH", "HOME", "TMPDIR"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command.kill_on_drop(true);
    Ok(command)
}
