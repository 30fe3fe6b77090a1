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
    /// Whether the writer ended, and who waits for that.
    over: (Mutex<bool>, Condvar),
    failing: AtomicBool,
    /// A line was lost, and nothing was written since.
    losing: AtomicBool,
    trouble: Mutex<Trouble>,
    /// Lines that were taken.
    pub(super) taken: AtomicU64,
    /// Lines that were lost so far.
    pub(super) lost: AtomicU64,
    /// Of these the ones that no line tells of yet.
    untold: AtomicU64,
    /// Lines that the copy on standard output lacks.
    pub(super) copies_lost: AtomicU64,
    /// Lines that the writer took and that are not written yet.
    pub(super) held: AtomicU64,
}

/// What is wrong.
#[derive(Debug, Default)]
struct Trouble {
    /// Why nothing can be written.
    why: Option<String>,
    /// Why nothing can be written to the copy.
    copy: Option<String>,
    /// When the write began that has not ended.
    began: Option<Instant>,
}

impl Trouble {
    /// Whether a write has lasted too long.
    fn hangs(&self) -> bool {
        self.began.is_some_and(|began| began.elapsed() >= ROOM)
    }
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

    /// Takes a line once there is room, within a bound; at once lost where nothing can be written. False = it was lost.
    pub(super) async fn wait(&self, line: &[u8]) -> bool {
        let taking = async {
            loop {
                let mut room = std::pin::pin!(self.room.notified());
                room.as_mut().enable();
                if self.offer(line) {
                    return true;
                }
                if self.is_broken() || self.lock().closed {
                    return false;
                }
                room.await;
            }
        };
        let taken = timeout(ROOM, taking).await.unwrap_or(false);
        if !taken {
            self.lose();
        }
        taken
    }

    /// A line found no room.
    pub(super) fn lose(&self) {
        self.lose_many(1);
    }

    /// These found none.
    pub(super) fn lose_many(&self, lines: u64) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
        self.untold.fetch_add(lines, Ordering::Relaxed);
        self.losing.store(true, Ordering::Release);
    }

    /// The copy on standard output lacks these.
    pub(super) fn lose_copies(&self, lines: u64) {
        self.copies_lost.fetch_add(lines, Ordering::Relaxed);
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
        self.troubles().why = why;
        self.room.notify_waiters();
    }

    /// The copy on standard output cannot be written, for this reason; none = it can again.
    pub(super) fn set_copy_trouble(&self, why: Option<String>) {
        self.troubles().copy = why;
    }

    /// A write begins.
    pub(super) fn begin(&self) {
        self.troubles().began.get_or_insert_with(now);
    }

    /// Everything was written; whether that lasted too long.
    pub(super) fn done(&self) -> bool {
        self.losing.store(false, Ordering::Release);
        let mut troubles = self.troubles();
        let hung = troubles.hangs();
        troubles.began = None;
        hung
    }

    /// Whether nothing can be written now: it fails, or does not come back.
    fn is_broken(&self) -> bool {
        self.failing.load(Ordering::Acquire) || self.troubles().hangs()
    }

    /// Whether lines cannot be written now, or are lost.
    pub(super) fn is_failing(&self) -> bool {
        self.losing.load(Ordering::Acquire) || self.is_broken()
    }

    /// Whether that is known by an error.
    pub(super) fn is_told(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    /// Whether a write does not come back.
    pub(super) fn hangs(&self) -> bool {
        self.troubles().hangs()
    }

    /// Why lines cannot be written now.
    pub(super) fn why(&self) -> Option<String> {
        let troubles = self.troubles();
        if troubles.why.is_some() {
            return troubles.why.clone();
        }
        if troubles.hangs() {
            let text =
                format!("the audit cannot be written: a write has taken over {} s", ROOM.as_secs());
            return Some(text);
        }
        let losing = self.losing.load(Ordering::Acquire);
        losing.then(|| "the audit cannot be written: lines found no room".to_owned())
    }

    /// Why the copy on standard output cannot be written now.
    pub(super) fn copy_trouble(&self) -> Option<String> {
        self.troubles().copy.clone()
    }

    /// The writer ended.
    pub(super) fn set_over(&self) {
        let (over, waiting) = &self.over;
        *over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        waiting.notify_all();
    }

    /// Waits for that, for so long; else how many lines are not written.
    pub(super) fn until_over(&self, patience: Duration) -> Result<(), u64> {
        let (over, waiting) = &self.over;
        let over = over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = waiting.wait_timeout_while(over, patience, |over| !*over);
        if *waited.unwrap_or_else(PoisonError::into_inner).0 {
            return Ok(());
        }
        Err(super::copy::count(&self.lock().bytes) + self.held.load(Ordering::Relaxed))
    }

    fn troubles(&self) -> MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clock of what is told once in a while.
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_does_not_come_back_and_a_line_that_was_lost_are_trouble() {
        let queue = Queue::default();
        queue.begin();
        assert!(!queue.is_failing() && queue.why().is_none());
        queue.troubles().began = Instant::now().checked_sub(ROOM);
        assert!(queue.is_failing() && queue.hangs());
        assert!(queue.why().unwrap().contains("over 5 s"));
        assert!(queue.done(), "it lasted too long");
        assert!(!queue.is_failing());
        queue.lose();
        assert!(queue.is_failing() && queue.why().unwrap().contains("no room"));
        assert!(!queue.done() && !queue.is_failing());
    }

    #[test]
    fn an_end_that_does_not_come_is_waited_for_within_a_bound() {
        let queue = Queue::default();
        assert!(queue.offer(b"{}\n{}\n"));
        queue.held.store(3, Ordering::Relaxed);
        assert_eq!(queue.until_over(Duration::from_millis(1)), Err(5));
        queue.set_over();
        assert_eq!(queue.until_over(Duration::ZERO), Ok(()));
    }

    #[tokio::test]
    async fn a_line_waits_for_nothing_while_a_write_does_not_come_back() {
        let queue = Queue::default();
        assert!(queue.wait(b"{}\n").await);
        assert!(queue.offer(&vec![b'x'; MAX_BYTES - 3]));
        queue.begin();
        queue.troubles().began = Instant::now().checked_sub(ROOM);
        assert!(!queue.wait(b"{}\n").await);
        assert_eq!(queue.lost.load(Ordering::Relaxed), 1);
    }
}
