//! Linux: the kernel hands orphans over, lists them, and tells of plugway's end.

use std::fs::{read_dir, read_to_string};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, WaitOptions, getpid, pidfd_open, set_child_subreaper, wait,
};

use super::tree::{System, exit_code};

/// Watches over plugway.
pub(super) struct Linux {
    owner: OwnedFd,
}

impl System for Linux {
    const FINDS_ALL: bool = true;

    fn new(owner: Pid) -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Self { owner: pidfd_open(owner, PidfdFlags::empty())? })
    }

    fn wait(&mut self, child: Pid, stop: &UnixStream) -> io::Result<()> {
        let child = pidfd_open(child, PidfdFlags::empty())?;
        let watched = [self.owner.as_fd(), child.as_fd(), stop.as_fd()];
        let mut fds = watched.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        loop {
            match poll(&mut fds, None) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn reap(&mut self, child: Pid, code: &mut Option<u8>) -> bool {
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

    /// Direct children of this process. Kernels without `/proc/<pid>/task/<tid>/children` are asked the long way.
    fn strays(&self) -> Vec<Pid> {
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
