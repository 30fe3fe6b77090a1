//! The supervisor's whole life. No async runtime: it must stay tiny.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::tree::{self, System};

/// The hidden first argument by which the binary knows that it is a supervisor.
pub const WORD: &str = "supervise";

/// Exit code when the command cannot be started, as shells have it.
const NOT_STARTED: u8 = 127;

/// Runs a command under supervision, as this system can.
pub(super) fn run<S: System>(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let owner = args.next().and_then(|text| text.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let separator = args.next();
    let (Some(owner), Some(program)) = (owner, args.next()) else {
        return complain("a supervisor is started by plugway only");
    };
    if separator.is_none_or(|text| text != "--") {
        return complain("a supervisor is started by plugway only");
    }
    match supervise::<S>(owner, Command::new(&program).args(args)) {
        Ok(code) => code,
        Err(error) => complain(&format!("{}: {error}", program.to_string_lossy())),
    }
}

fn complain(sentence: &str) -> ExitCode {
    // Standard error is a pipe to plugway, which logs it; when that is gone nobody listens.
    if writeln!(io::stderr(), "plugway: {sentence}").is_err() {
        return ExitCode::from(NOT_STARTED);
    }
    ExitCode::from(NOT_STARTED)
}

fn supervise<S: System>(owner: Pid, command: &mut Command) -> io::Result<ExitCode> {
    let mut system = S::new(owner)?;
    // plugway may have ended, and its number may belong to somebody else, before the line above.
    if getppid() != Some(owner) {
        return Ok(ExitCode::from(NOT_STARTED));
    }
    let (stop, stop_sender) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
        signal_hook::low_level::pipe::register(signal, stop_sender.try_clone()?)?;
    }
    let child = command.process_group(0).spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the child has no process id"))?;
    let end = let_go().and_then(|()| system.wait(pid, &stop));
    let code = tree::end(&mut system, pid);
    end?;
    Ok(code)
}

/// Gives up the copies of the child's pipes, so that plugway sees their end.
fn let_go() -> io::Result<()> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
