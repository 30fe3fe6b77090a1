//! How the process may end.

use std::fmt;
use std::process::ExitCode;

/// How the process may end. The numbers are contract: scripts and service managers act on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Ok = 0,
    /// The configuration has problems; or, of `health`, the answer is not 200; or, of `audit verify`, a line is not as it
    /// was written.
    Refused = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The address cannot be listened on.
    Listen = 3,
    /// A configured plugin does not load.
    Plugin = 4,
    /// Of `policy explain`: the call would be refused.
    Denied = 5,
    /// A fault of plugway or of the system under it.
    Internal = 70,
}

/// The lines of `--help` about them.
pub(super) const HELP: &str = "\
Exit codes:
  0   everything was done
  1   the configuration has problems; of `health`: the answer is not 200; of `audit verify`: a line is
      not as it was written
  2   the command line is wrong
  3   the address cannot be listened on
  4   a configured plugin does not load
  5   of `policy explain`: the call would be refused
  70  a fault of plugway or of the system under it";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a subcommand could not do what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// How the process ends.
    pub(super) exit: Exit,
    /// What to print: lines that begin with `error:`, `warning:` or `hint:`.
    pub(super) text: String,
}

impl Failure {
    /// One sentence and what to do about it.
    pub(super) fn new(exit: Exit, sentence: impl fmt::Display, hint: &str) -> Self {
        Self { exit, text: format!("error: {sentence}\nhint: {hint}") }
    }
}

impl From<crate::config::Problems> for Failure {
    fn from(problems: crate::config::Problems) -> Self {
        Self { exit: Exit::Refused, text: problems.to_string() }
    }
}
