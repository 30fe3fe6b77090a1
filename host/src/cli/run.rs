//! Finds the subcommand, and prints what it says.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use super::arguments::{Arguments, Command};
use super::exit::{Exit, Failure};
use super::{audit, check, health, import, pins, policy, schema, serve, stdio, try_out};
use crate::config::Environment;
use crate::telemetry::log::{self, LogError};
#[cfg(unix)]
use crate::upstream::supervise;

/// Runs the command line: its first word is the program. The hidden word of the supervisor comes before everything
/// else, since that process must stay tiny.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    #[cfg(unix)]
    if let Some((word, rest)) = words.get(1..).and_then(<[OsString]>::split_first)
        && word == supervise::WORD
    {
        return supervise::main(rest.iter().cloned());
    }
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Where the terminal is gone there is nobody to tell.
            let _nobody_reads = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Ok.into() };
        }
    };
    outlive_large_files();
    let ended = dispatch(&arguments, &Environment::of_process());
    match ended {
        Ok(()) => Exit::Ok.into(),
        Err(failure) => {
            let _nobody_reads = writeln!(std::io::stderr(), "{}", failure.text);
            failure.exit.into()
        }
    }
}

/// A file that outgrows the limit of the process (`ulimit -f`) is an error of the write, as a full disk is: the signal that comes
/// with it would end plugway. Children have their own way with it, since a handler does not outlast `exec`.
fn outlive_large_files() {
    #[cfg(unix)]
    if let Err(error) =
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default())
    {
        let _nobody_reads = writeln!(std::io::stderr(), "SIGXFSZ cannot be caught: {error}");
    }
}

fn dispatch(arguments: &Arguments, environment: &Environment) -> Result<(), Failure> {
    start_log(arguments, environment)?;
    match &arguments.command {
        Command::Serve(command) => serve::run(command, environment),
        Command::Stdio(command) => stdio::run(command, environment),
        Command::Check(command) => check::run(command, environment),
        Command::Policy(command) => policy::run(command, environment),
        Command::Import(command) => import::run(command, environment),
        Command::Schema(command) => {
            schema::run(command);
            Ok(())
        }
        Command::Pins(command) => pins::run(command, environment),
        Command::Try(command) => try_out::run(command, environment),
        Command::Health(command) => health::run(command),
        Command::Audit(command) => audit::run(command, environment),
    }
}

/// Starts the log; `check` and the like are quiet unless asked, since what they say is their output.
fn start_log(arguments: &Arguments, environment: &Environment) -> Result<(), Failure> {
    let quiet = matches!(
        arguments.command,
        Command::Check(_)
            | Command::Health(_)
            | Command::Import(_)
            | Command::Pins(_)
            | Command::Policy(_)
            | Command::Schema(_)
            | Command::Audit(_)
    );
    let default = if quiet { "warn" } else { "info" };
    let level = arguments.log_level.as_deref().or(environment.get("PLUGWAY_LOG"));
    log::start(arguments.log_format.into(), level.unwrap_or(default)).map_err(|error| match error {
        LogError::Level { .. } => Failure::new(
            Exit::Usage,
            error,
            "write error, warn, info, debug or trace, or directives such as \
             `info,plugway::upstream=debug`, in --log-level or PLUGWAY_LOG",
        ),
        LogError::Twice(_) => Failure::new(Exit::Internal, error, "this is a fault of plugway"),
    })
}
