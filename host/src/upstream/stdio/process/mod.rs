//! Processes of servers, as each system has them: started with an environment of their own, ended with everything that
//! they started, and never left behind by a plugway that ends, however it ends.
//!
//! On Unix a supervisor stands between (`upstream::supervise`); on Windows each server is a job that is killed with
//! plugway's last handle to it.

#[cfg(any(windows, test))]
mod resolve;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::Process;
#[cfg(windows)]
pub(super) use windows::Process;
