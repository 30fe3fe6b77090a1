//! macOS and other Unix systems: a process group, and a look at plugway twice a second. Tested on Linux.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, getppid, test_kill_process_group, waitpid};
use signal_hook::consts::SIGCHLD;

use super::tree::{System, exit_code};

/// Time between two looks at plugway.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// Watches over plugway.
pub(super) struct Portable {
    owner: Pid,
    /// Can be read when a child may have ended.
    ended: UnixStream,
    /// How the child ended, once it did.
    code: Option<u8>,
}

impl System for Portable {
    // What left the process group is not found, and what ended is taken in by somebody else.
    const FINDS_ALL: bool = false;

    fn new(owner: Pid) -> io::Result<Self> {
        let (ended, sender) = UnixStream::pair()?;
        ended.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, sender)?;
        Ok(Self { owner, ended, code: None })
    }

    fn wait(&mut self, child: Pid, stop: &UnixStream) -> io::Result<()> {
        loop {
            let orphaned = getppid() != Some(self.owner);
            if orphaned || self.is_over(child) {
                return Ok(());
            }
            let watched = [stop.as_fd(), self.ended.as_fd()];
            let mut fds = watched.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
            match poll(&mut fds, Some(&LOOK)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [stop, _] = fds;
            if !stop.revents().is_empty() {
                return Ok(());
            }
            while self.ended.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
        }
    }

    fn reap(&mut self, child: Pid, code: &mut Option<u8>) -> bool {
        let over = self.is_over(child);
        *code = self.code;
        !over || test_kill_process_group(child).is_ok()
    }

    fn strays(&self) -> Vec<Pid> {
        Vec::new()
    }
}

impl Portable {
    /// Whether the child ended.
    fn is_over(&mut self, child: Pid) -> bool {
        if self.code.is_none()
            && let Ok(Some((_, status))) = waitpid(Some(child), WaitOptions::NOHANG)
        {
            self.code = Some(exit_code(status));
        }
        self.code.is_some()
    }
}
