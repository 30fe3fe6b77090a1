//! Windows: a command in a job, which ends with plugway's last handle to it. Checked by the compiler, not run by the
//! tests.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use windows::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW};

use super::resolve::{EXTENSIONS, resolve};
use crate::upstream::settings;

/// A command that was started, and its job.
#[derive(Debug)]
pub(in crate::upstream::stdio) struct Process(Box<dyn ChildWrapper>);

impl Process {
    /// Starts the command. Its environment is what is listed and nothing else. It is put into its job before it runs,
    /// so that nothing that it starts is outside.
    pub(in crate::upstream::stdio) fn spawn(wanted: &settings::Command) -> io::Result<Self> {
        let listed = |name: &str| {
            let found = wanted.env.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.as_str())
        };
        let extensions = listed("PATHEXT").unwrap_or(EXTENSIONS);
        let path = listed("PATH").unwrap_or_default();
        let found = resolve(&wanted.program, path, extensions, Path::is_file);
        let mut command = Command::new(found.as_deref().unwrap_or(Path::new(&wanted.program)));
        command.args(&wanted.args).env_clear();
        command.envs(wanted.env.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &wanted.directory {
            command.current_dir(directory);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut wrapped = CommandWrap::from(command);
        // Ctrl-C ends plugway, which then ends its children in order; nobody wants their windows.
        wrapped.wrap(CreationFlags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP));
        wrapped.wrap(KillOnDrop).wrap(JobObject);
        wrapped.spawn().map(Self)
    }

    /// Its standard input, output and error; each is given away once.
    pub(in crate::upstream::stdio) fn pipes(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.0.stdin().take(), self.0.stdout().take(), self.0.stderr().take())
    }

    /// Waits for its end, and ends everything that it started.
    pub(in crate::upstream::stdio) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let ended = self.0.inner_mut().wait().await;
        self.ask_to_end();
        ended
    }

    /// Ends it: its standard input was closed before, and there is no kinder way.
    pub(in crate::upstream::stdio) fn ask_to_end(&mut self) {
        // A job in which nothing runs any more is what is wanted.
        self.0.start_kill().ok();
    }

    /// Kills it.
    pub(in crate::upstream::stdio) async fn kill(&mut self) -> io::Result<()> {
        self.0.start_kill()?;
        self.0.inner_mut().wait().await.map(drop)
    }
}
