//! Ends a command and everything that it started.

use std::fs::{read_dir, read_to_string};
use std::process::ExitCode;
use std::time::Instant;

use rustix::event::{Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, wait,
};

use crate::upstream::limits::TERM_GRACE;

/// Time between two looks.
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Ends the process group of `child` and every other descendant; gives the exit code of `child`. Returns once no
/// descendant is left.
pub(super) fn end(child: Pid) -> ExitCode {
    let mut code = None;
    let mut left = reap(child, &mut code);
    if left {
        signal(child, Signal::TERM);
        let until = Instant::now() + TERM_GRACE;
        while left && Instant::now() < until {
            pause();
            left = reap(child, &mut code);
        }
    }
    // What is killed hands its children over to this process: again until nobody is left.
    while left {
        signal(child, Signal::KILL);
        pause();
        left = reap(child, &mut code);
    }
    ExitCode::from(code.unwrap_or(0))
}

/// Takes in what ended; says whether any child is left.
fn reap(child: Pid, code: &mut Option<u8>) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                if pid == child {
                    *code = Some(exit_code(status));
                }
            }
            Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_no_child) => return false,
        }
    }
}

/// The code by which shells report an end: its own, or 128 and the signal.
fn exit_code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or(status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

fn signal(child: Pid, signal: Signal) {
    // A process that ended between the look and the signal is what is wanted.
    kill_process_group(child, signal).ok();
    for pid in children() {
        kill_process(pid, signal).ok();
    }
}

/// Direct children of this process. Kernels without `/proc/<pid>/task/<tid>/children` are asked the long way.
fn children() -> Vec<Pid> {
    let Ok(threads) = read_dir("/proc/self/task") else { return Vec::new() };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match text(&thread.path().join("children").to_string_lossy()) {
            Some(list) => found.extend(list.split_whitespace().filter_map(pid)),
            None => return children_by_status(),
        }
    }
    found
}

fn children_by_status() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero().to_string();
    let Ok(processes) = read_dir("/proc") else { return Vec::new() };
    let is_ours = |number: &str| {
        // `pid (name) state parent ..`; the name may hold anything.
        let stat = text(&format!("/proc/{number}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        fields.split_whitespace().nth(1) == Some(own.as_str())
    };
    let names = processes.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| pid(name).is_some() && is_ours(name))
        .filter_map(|name| pid(&name))
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "the kernel's own tables about processes")]
fn text(path: &str) -> Option<String> {
    read_to_string(path).ok()
}

fn pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

fn pause() {
    poll(&mut [], Some(&STEP)).ok();
}
