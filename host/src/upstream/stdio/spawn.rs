//! Starts a command under its supervisor.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::upstream::settings;

/// Starts the command. Its environment is what is listed and nothing else.
pub(super) fn spawn(wanted: &settings::Command) -> io::Result<Child> {
    let (program, words) = supervisor();
    let mut command = Command::new(program);
    command.args(words).arg(std::process::id().to_string()).arg("--");
    command.arg(&wanted.program).args(&wanted.args).env_clear();
    command.envs(wanted.env.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &wanted.directory {
        command.current_dir(directory);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A signal of the terminal ends plugway, which then ends its children in order.
    command.process_group(0);
    command.spawn()
}

/// The program that supervises: plugway itself, even when its file was replaced meanwhile.
#[cfg(not(test))]
fn supervisor() -> (PathBuf, Vec<&'static str>) {
    ("/proc/self/exe".into(), vec![crate::upstream::supervise::WORD])
}

/// In tests the test binary supervises, through the test `entry`.
#[cfg(test)]
fn supervisor() -> (PathBuf, Vec<&'static str>) {
    let entry = "upstream::supervise::tests::entry";
    ("/proc/self/exe".into(), vec![entry, "--exact", "--ignored", "--nocapture", "--"])
}
