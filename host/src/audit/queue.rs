//! Lines on their way to the writer: bytes in one buffer, bounded.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

/// Bytes of lines that wait for the writer.
pub(super) const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How long a call waits for room; its line is lost and counted then.
pub(super) const ROOM: Duration = Duration::from_secs(5);
/// How long the writer waits for further lines after the first one, so that many are written at once.
pub(super) const GATHER: Duration = Duration::from_millis(10);

/// Lines that nobody wrote yet.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Wakes the writer.
    filled: Condvar,
    /// Wakes whoever waits for room.
    room: Notify,
    failing: AtomicBool,
    trouble: Mutex<Option<String>>,
    /// Lines that were taken.
    pub(super) taken: AtomicU64,
    /// Lines that were lost so far.
    pub(super) lost: AtomicU64,
    /// Of these the ones that no line tells of yet.
    untold: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    /// Whether the writer waits for the first line.
    idle: bool,
    closed: bool,
    reopen: bool,
}

/// What the writer is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// The file may be another one.
    pub(super) reopen: bool,
    /// Nothing follows.
    pub(super) closed: bool,
}

impl Queue {
    /// Takes lines where there is room.
    pub(super) fn offer(&self, lines: &[u8]) -> bool {
        let mut state = self.lock();
        if state.closed || state.bytes.len() + lines.len() > MAX_BYTES {
            return false;
        }
        let half = state.bytes.len() < MAX_BYTES / 2;
        state.bytes.extend_from_slice(lines);
        let wake = state.idle || (half && state.bytes.len() >= MAX_BYTES / 2);
        state.idle = false;
        drop(state);
        self.taken.fetch_add(1, Ordering::Relaxed);
        if wake {
            self.filled.notify_one();
        }
        true
    }

    /// Takes a line once there is room, within a bound; at once lost where nothing can be written.
    pub(super) async fn wait(&self, line: &[u8]) {
        let taking = async {
            loop {
                let mut room = std::pin::pin!(self.room.notified());
                room.as_mut().enable();
                if self.offer(line) {
                    return true;
                }
                if self.is_failing() || self.lock().closed {
                    return false;
                }
                room.await;
            }
        };
        if !timeout(ROOM, taking).await.unwrap_or(false) {
            self.lose();
        }
    }

    /// A line found no room.
    pub(super) fn lose(&self) {
        self.lose_many(1);
    }

    /// These found none.
    pub(super) fn lose_many(&self, lines: u64) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
        self.untold.fetch_add(lines, Ordering::Relaxed);
    }

    /// How many were lost since this was last asked.
    pub(super) fn untold(&self) -> u64 {
        self.untold.swap(0, Ordering::Relaxed)
    }

    /// Waits for lines and moves them into `lines`, which is empty; at most for `patience`.
    pub(super) fn take(&self, lines: &mut Vec<u8>, patience: Duration) -> Turn {
        let mut state = self.lock();
        if state.bytes.is_empty() && !state.closed && !state.reopen {
            state.idle = true;
            let waits = |state: &mut State| state.idle && !state.closed && !state.reopen;
            state = self.until(state, patience, waits);
            state.idle = false;
            let few = |state: &mut State| {
                state.bytes.len() < MAX_BYTES / 2 && !state.closed && !state.reopen
            };
            if !state.bytes.is_empty() {
                state = self.until(state, GATHER, few);
            }
        }
        std::mem::swap(&mut state.bytes, lines);
        let turn = Turn { reopen: std::mem::take(&mut state.reopen), closed: state.closed };
        drop(state);
        self.room.notify_waiters();
        turn
    }

    /// Waits for so long, or until something is said that may help; takes no lines.
    pub(super) fn pause(&self, patience: Duration) -> Turn {
        let state = self.lock();
        let nothing = |state: &mut State| !state.closed && !state.reopen;
        let mut state = self.until(state, patience, nothing);
        Turn { reopen: std::mem::take(&mut state.reopen), closed: state.closed }
    }

    fn until<'a>(
        &self,
        state: MutexGuard<'a, State>,
        patience: Duration,
        waits: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waited = self.filled.wait_timeout_while(state, patience, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The file may be another one.
    pub(super) fn reopen(&self) {
        self.lock().reopen = true;
        self.filled.notify_one();
    }

    /// Nothing follows.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
        self.room.notify_waiters();
    }

    /// Nothing can be written, for this reason; none = it can again.
    pub(super) fn set_trouble(&self, why: Option<String>) {
        self.failing.store(why.is_some(), Ordering::Release);
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = why;
        self.room.notify_waiters();
    }

    /// Whether nothing can be written now.
    pub(super) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    /// Why nothing can be written now.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clock of what is told once in a while.
pub(super) fn now() -> Instant {
    Instant::now()
}
