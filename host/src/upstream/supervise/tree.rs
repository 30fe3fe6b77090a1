//! Ends a command and everything that it started.

use std::io;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Instant;

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal, WaitStatus, kill_process, kill_process_group};

use crate::upstream::limits::TERM_GRACE;

/// Time between two looks.
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// What differs between systems.
pub(super) trait System: Sized {
    /// Watches over plugway, before anything is started.
    fn new(owner: Pid) -> io::Result<Self>;

    /// Waits for the end of plugway or of the child, or until `stop` can be read.
    fn wait(&mut self, child: Pid, stop: &UnixStream) -> io::Result<()>;

    /// Takes in what ended, and the child's exit code with it; says whether anything is left.
    fn reap(&mut self, child: Pid, code: &mut Option<u8>) -> bool;

    /// Who is left besides the child's process group.
    fn strays(&self) -> Vec<Pid>;

    /// Whether everything that is left can be found, so that it is worth to go on until nothing is.
    const FINDS_ALL: bool;
}

/// Ends the process group of `child` and every other descendant that can be found; gives the exit code of `child`.
pub(super) fn end<S: System>(system: &mut S, child: Pid) -> ExitCode {
    let mut code = None;
    let mut left = system.reap(child, &mut code);
    if left {
        signal(system, child, Signal::TERM);
        let until = Instant::now() + TERM_GRACE;
        while left && Instant::now() < until {
            pause();
            left = system.reap(child, &mut code);
        }
    }
    // What is killed hands its children over to this process: again until nobody is left.
    let until = Instant::now() + TERM_GRACE;
    while left && (S::FINDS_ALL || Instant::now() < until) {
        signal(system, child, Signal::KILL);
        pause();
        left = system.reap(child, &mut code);
    }
    ExitCode::from(code.unwrap_or(0))
}

/// The code by which shells report an end: its own, or 128 and the signal.
pub(super) fn exit_code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or(status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

fn signal<S: System>(system: &S, child: Pid, signal: Signal) {
    // A process that ended between the look and the signal is what is wanted.
    kill_process_group(child, signal).ok();
    for pid in system.strays() {
        kill_process(pid, signal).ok();
    }
}

fn pause() {
    poll(&mut [], Some(&STEP)).ok();
}
