//! The small process between plugway and a child: nothing that the child starts outlives plugway, not even after
//! `kill -9`.
//!
//! plugway starts itself again with a hidden first argument. That process waits for the first of three things: plugway
//! ends, the child ends, or a signal asks it to stop. Then the child's process group gets SIGTERM, and 2 s later
//! everything that is left gets SIGKILL. Only who kills the supervisor itself with SIGKILL gets orphans.
//!
//! On Linux the supervisor is the *subreaper* of everything below it: orphans become its children instead of the
//! system's, so it finds them all, and the kernel tells it of plugway's end at once. Other Unix systems have nothing
//! like that: there it ends the process group, and looks for plugway twice a second. A process that leaves its group
//! there is not found. Windows needs no supervisor: its jobs do the same.
//!
//! Reading order: [`mod@main`], then `linux` and `portable`, which say what is left and when it is time, then [`tree`],
//! which ends it.

#[cfg(target_os = "linux")]
mod linux;
mod main;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;
#[cfg(test)]
mod tests;
mod tree;

#[cfg(target_os = "linux")]
use linux::Linux as Here;
#[cfg(not(target_os = "linux"))]
use portable::Portable as Here;

use std::ffi::OsString;
use std::process::ExitCode;

pub use main::WORD;

/// Runs a command under supervision. The arguments, without the program and [`WORD`]:
/// `<process id of plugway> -- <command> <argument>..`.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    main::run::<Here>(args)
}
