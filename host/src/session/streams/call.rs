//! The stream of one answer: written by a task that reads the answer, read by whichever connection the client has.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::replay::Replay;
use super::{EventId, KEPT_MS, MAX_UNREAD, MAX_UNREAD_BYTES, PATIENCE};
use crate::fault::{Code, Fault};
use crate::protocol::sse;

/// The events of one answer.
#[derive(Debug)]
pub(super) struct CallStream {
    number: u64,
    state: Mutex<State>,
    /// Something was written or read, or somebody else reads.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    replay: Replay,
    /// Counts readers: only the newest gets anything.
    readers: u64,
    /// What that one does.
    client: Client,
    /// The position that it has read.
    read: u64,
    /// The server is asked again after this time, and so is plugway: the connection ends.
    resting: Option<Duration>,
    /// Whether the answer is complete.
    over: bool,
    /// When that was noticed, on the store's clock.
    over_at: Option<u64>,
    /// Whether nobody can come back for it.
    forgotten: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Client {
    /// It reads, or will as soon as something is there.
    #[default]
    Reading,
    /// It took nothing for so long that nobody waits for it.
    Slow,
    /// Its connection is gone.
    Away,
}

/// What an event id leads to.
#[derive(Debug)]
pub enum Resumption {
    /// The events that follow, and those to come.
    From(Reader),
    /// The stream is complete, and nothing follows.
    Over,
    /// What follows is not here any more, or never was.
    Gone,
}

/// How little a session loses with a stream that it does not keep: the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// The client has had all of it.
    Read,
    /// The client reads it now.
    Reading,
    /// The client may come back for it.
    Waiting,
}

impl CallStream {
    /// A stream with its two ends.
    pub(super) fn open(number: u64) -> (Writer, Reader) {
        let state = State { readers: 1, ..State::default() };
        let stream = Arc::new(Self { number, state: Mutex::new(state), changed: Notify::new() });
        let id = EventId { stream: number, position: 0 };
        (Writer(stream.clone()), Reader { stream, number: 1, id })
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    async fn append(&self, message: &[u8]) -> usize {
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            if let Some(held) = self.push(message) {
                return held;
            }
            if timeout(PATIENCE, changed).await.is_err() {
                self.lock().client.give_up();
            }
        }
    }

    /// Writes a message where there is room.
    fn push(&self, message: &[u8]) -> Option<usize> {
        let mut state = self.lock();
        if let Some(read) = state.needed() {
            let (events, bytes) = state.replay.behind(read);
            if events >= MAX_UNREAD || bytes >= MAX_UNREAD_BYTES {
                return None;
            }
        }
        let id = EventId { stream: self.number, position: state.replay.last() + 1 };
        state.replay.push(sse::encode_as(&id.to_string(), message));
        state.trim();
        let held = state.replay.bytes();
        drop(state);
        self.changed.notify_waiters();
        Some(held)
    }

    /// Reads on behind this position. Whoever read before gets nothing more.
    pub(super) fn resume(self: &Arc<Self>, position: u64) -> Resumption {
        let mut state = self.lock();
        if !state.replay.reaches(position) {
            return Resumption::Gone;
        }
        if state.over && position == state.replay.last() {
            return Resumption::Over;
        }
        state.readers += 1;
        (state.client, state.read) = (Client::Reading, position);
        state.resting = None;
        let number = state.readers;
        drop(state);
        self.changed.notify_waiters();
        let id = EventId { stream: self.number, position };
        Resumption::From(Reader { stream: self.clone(), number, id })
    }

    /// Keeps nothing for a client that comes back.
    pub(super) fn forget(&self) {
        let mut state = self.lock();
        state.forgotten = true;
        state.trim();
    }

    pub(super) fn held(&self) -> usize {
        self.lock().replay.bytes()
    }

    pub(super) fn worth(&self) -> Worth {
        let state = self.lock();
        match state.client {
            _ if state.over && state.read == state.replay.last() => Worth::Read,
            Client::Reading => Worth::Reading,
            Client::Slow | Client::Away => Worth::Waiting,
        }
    }

    /// Whether it ended so long ago that nobody comes back for it.
    pub(super) fn expired(&self, now: u64) -> bool {
        let mut state = self.lock();
        let over = state.over;
        over && now.saturating_sub(*state.over_at.get_or_insert(now)) >= KEPT_MS
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    /// Nobody waits for it any more.
    fn give_up(&mut self) {
        if *self == Self::Reading {
            *self = Self::Slow;
        }
    }
}

impl State {
    /// The position behind which nothing may be let go of: that of a client that reads.
    fn needed(&self) -> Option<u64> {
        (self.client == Client::Reading).then_some(self.read)
    }

    fn trim(&mut self) {
        let needed = self.needed();
        if self.forgotten { self.replay.forget(needed) } else { self.replay.trim(needed) }
    }
}

/// Writes the answer. Dropped, the answer is complete.
#[derive(Debug)]
pub struct Writer(pub(super) Arc<CallStream>);

impl Writer {
    /// Writes a message. Waits while much is unread by a client that goes on reading; one that does not is not waited for.
    /// Gives the bytes that are held now.
    pub(super) async fn append(&self, message: &[u8]) -> usize {
        self.0.append(message).await
    }

    /// Lets the client go, which comes back after this time: a stream that is kept for it waits for nobody until then.
    pub fn rest(&self, wait: Duration) {
        let mut state = self.0.lock();
        if state.forgotten {
            return;
        }
        state.resting = Some(wait);
        drop(state);
        self.0.changed.notify_waiters();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.changed.notify_waiters();
    }
}

/// What one connection reads.
#[derive(Debug)]
pub struct Reader {
    stream: Arc<CallStream>,
    number: u64,
    /// The event behind which it began.
    pub id: EventId,
}

impl Reader {
    /// The text of the next event; none at the end, and when another connection reads on. An error when the client was too
    /// slow for the stream.
    pub async fn next(&self) -> Option<Result<Bytes, Fault>> {
        loop {
            let changed = self.stream.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            if let Poll::Ready(next) = self.take() {
                return next;
            }
            changed.await;
        }
    }

    fn take(&self) -> Poll<Option<Result<Bytes, Fault>>> {
        let mut state = self.stream.lock();
        if state.readers != self.number {
            return Poll::Ready(None);
        }
        if let Some(event) = state.replay.after(state.read).cloned() {
            state.read += 1;
            state.client = Client::Reading;
            state.trim();
            drop(state);
            self.stream.changed.notify_waiters();
            return Poll::Ready(Some(Ok(event)));
        }
        if state.read < state.replay.last() {
            let text = "The client read too slowly: what it had to read next is gone.";
            return Poll::Ready(Some(Err(Fault::new(Code::StreamUnknown, text))));
        }
        if state.over {
            return Poll::Ready(None);
        }
        let Some(wait) = state.resting.take() else { return Poll::Pending };
        // Nobody reads until the client is back.
        state.readers += 1;
        state.client = Client::Away;
        let id = EventId { stream: self.stream.number, position: state.read };
        Poll::Ready(Some(Ok(sse::priming(&id.to_string(), wait))))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.stream.lock();
        if state.readers == self.number {
            state.client = Client::Away;
            state.trim();
        }
        drop(state);
        self.stream.changed.notify_waiters();
    }
}
