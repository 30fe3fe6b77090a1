//! Unix: a command under its supervisor.

use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::upstream::settings;

/// A command that was started, and its supervisor.
#[derive(Debug)]
pub(in crate::upstream::stdio) struct Process(Child);

impl Process {
    /// Starts the command. Its environment is what is listed and nothing else.
    pub(in crate::upstream::stdio) fn spawn(wanted: &settings::Command) -> io::Result<Self> {
        let (program, words) = supervisor()?;
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
        command.spawn().map(Self)
    }

    /// Its standard input, output and error; each is given away once.
    pub(in crate::upstream::stdio) fn pipes(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.0.stdin.take(), self.0.stdout.take(), self.0.stderr.take())
    }

    /// Waits for its end, which is the end of everything that it started.
    pub(in crate::upstream::stdio) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }

    /// Asks it to end: first kindly, 2 s later without asking.
    pub(in crate::upstream::stdio) fn ask_to_end(&mut self) {
        let id = self.0.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(id) = id {
            // One that is gone needs no signal.
            kill_process(id, Signal::TERM).ok();
        }
    }

    /// Kills it.
    pub(in crate::upstream::stdio) async fn kill(&mut self) -> io::Result<()> {
        self.0.kill().await
    }
}

/// The program that supervises: plugway itself.
#[cfg(not(test))]
fn supervisor() -> io::Result<(PathBuf, Vec<&'static str>)> {
    Ok((own_program()?, vec![crate::upstream::supervise::WORD]))
}

/// In tests the test binary supervises, through the test `entry`.
#[cfg(test)]
fn supervisor() -> io::Result<(PathBuf, Vec<&'static str>)> {
    let entry = "upstream::supervise::tests::entry";
    Ok((own_program()?, vec![entry, "--exact", "--ignored", "--nocapture", "--"]))
}

/// The program that runs, even when its file was replaced meanwhile.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "the form that systems without /proc need")]
fn own_program() -> io::Result<PathBuf> {
    Ok("/proc/self/exe".into())
}

/// The file of the program that runs: one that replaced it meanwhile must still know how to supervise.
#[cfg(not(target_os = "linux"))]
fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}
