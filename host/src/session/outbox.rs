//! What waits for a session's GET stream.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::pipeline::level::Wanted;
use crate::pipeline::port::{Incoming, Promise};
use crate::pipeline::{Level, Outbox};

/// Messages that may wait; one more is dropped.
const MAX_MESSAGES: usize = 128;
/// Bytes that may wait; a message beyond them is dropped.
const MAX_BYTES: usize = 1024 * 1024;
/// Stands for no level.
const NEVER_ASKED: u8 = u8::MAX;

/// Messages for the client that belong to no request in flight.
#[derive(Debug)]
pub struct SessionOutbox {
    queue: Mutex<Queue>,
    changed: Notify,
    /// The least grave log messages that the client asked for, or [`NEVER_ASKED`].
    level: AtomicU8,
    /// Of tools, prompts and resources, the generations that the client was given: the first since they were asked for, and
    /// the last.
    seen: [(AtomicU32, AtomicU32); 3],
}

impl Default for SessionOutbox {
    fn default() -> Self {
        let level = AtomicU8::new(NEVER_ASKED);
        Self { queue: Mutex::default(), changed: Notify::new(), level, seen: Default::default() }
    }
}

/// A message that waits.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "few wait, and none for long")]
pub enum Waiting {
    /// plugway's own, ready to be sent.
    Own(Bytes),
    /// A server's.
    Server(Incoming),
}

impl Waiting {
    fn len(&self) -> usize {
        match self {
            Self::Own(text) | Self::Server(Incoming::Response(text)) => text.len(),
            Self::Server(Incoming::Notification(note)) => note.text.len(),
            Self::Server(Incoming::Ask(ask)) => ask.message.text().len(),
            Self::Server(Incoming::Break(_)) => 0,
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Waiting>,
    bytes: usize,
    /// Counts streams: only the newest one gets messages.
    stream: u64,
    /// Streams that have not ended yet.
    open: u32,
    /// Whether there ever was a stream.
    listened: bool,
    closed: bool,
}

impl SessionOutbox {
    /// A new stream takes over; an older one ends. A client that lost its stream without noticing is not locked out.
    pub fn listen(self: &Arc<Self>) -> Listener {
        let mut queue = self.lock();
        queue.stream += 1;
        queue.open += 1;
        queue.listened = true;
        let stream = queue.stream;
        drop(queue);
        self.changed.notify_waiters();
        Listener { outbox: self.clone(), stream }
    }

    /// Ends the stream: the session is over.
    pub fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        let left = std::mem::take(&mut queue.messages);
        queue.bytes = 0;
        drop(queue);
        // A server's request that nobody gets is refused by that.
        drop(left);
        self.changed.notify_waiters();
    }

    /// Ends the stream, and lets the client open another: who it is has to be established again.
    pub fn interrupt(&self) {
        self.lock().stream += 1;
        self.changed.notify_waiters();
    }

    /// Whether a stream is open.
    pub fn has_listener(&self) -> bool {
        self.lock().open > 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox for SessionOutbox {
    fn offer(&self, message: Bytes) -> bool {
        let fits = self.lock().push(Waiting::Own(message));
        self.changed.notify_waiters();
        fits
    }

    fn forward(&self, message: Incoming) -> bool {
        if let Incoming::Notification(note) = &message
            && !Wanted::of_session(self.level()).admits(&note.text)
        {
            return true;
        }
        let fits = self.lock().push(Waiting::Server(message));
        self.changed.notify_waiters();
        fits
    }

    fn listened(&self) -> Promise<'_, ()> {
        Box::pin(async {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                if self.lock().listened {
                    return;
                }
                changed.await;
            }
        })
    }

    fn offer_once(&self, message: Bytes) -> bool {
        let mut queue = self.lock();
        let waits = |waiting: &Waiting| matches!(waiting, Waiting::Own(own) if *own == message);
        let taken = queue.messages.iter().any(waits) || queue.push(Waiting::Own(message));
        drop(queue);
        self.changed.notify_waiters();
        taken
    }

    fn saw(&self, list: usize, generation: u32) {
        if let Some((first, last)) = self.seen.get(list) {
            // Where one is kept already, it stays.
            let _kept = first.compare_exchange(0, generation, Ordering::Relaxed, Ordering::Relaxed);
            last.store(generation, Ordering::Relaxed);
        }
    }

    fn take_seen(&self) -> [(u32, u32); 3] {
        let take = |(first, last): &(AtomicU32, AtomicU32)| {
            (first.swap(0, Ordering::Relaxed), last.load(Ordering::Relaxed))
        };
        self.seen.each_ref().map(take)
    }

    fn wants(&self, level: Level) -> bool {
        level >= self.level().unwrap_or_default()
    }

    fn level(&self) -> Option<Level> {
        let level = self.level.load(Ordering::Relaxed);
        Level::ALL.into_iter().find(|known| *known as u8 == level)
    }

    fn set_level(&self, level: Level) {
        self.level.store(level as u8, Ordering::Relaxed);
    }
}

impl Queue {
    fn is_open(&self, stream: u64) -> bool {
        self.stream == stream && !self.closed
    }

    /// Whether there was room.
    fn push(&mut self, message: Waiting) -> bool {
        let fits = !self.closed
            && self.messages.len() < MAX_MESSAGES
            && self.bytes + message.len() <= MAX_BYTES;
        if fits {
            self.bytes += message.len();
            self.messages.push_back(message);
        }
        fits
    }
}

/// The reading end of one stream.
#[derive(Debug)]
pub struct Listener {
    outbox: Arc<SessionOutbox>,
    stream: u64,
}

impl Listener {
    /// The next message; none when another stream took over or the session ended.
    pub async fn next(&self) -> Option<Waiting> {
        while self.ready().await {
            if let Some(message) = self.try_next() {
                return Some(message);
            }
        }
        None
    }

    /// Waits until there is a message; false when another stream took over or the session ended.
    pub async fn ready(&self) -> bool {
        loop {
            let changed = self.outbox.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            {
                let queue = self.outbox.lock();
                if !queue.is_open(self.stream) {
                    return false;
                }
                if !queue.messages.is_empty() {
                    return true;
                }
            }
            changed.await;
        }
    }

    /// The next message, where there is one and it is for this stream.
    pub fn try_next(&self) -> Option<Waiting> {
        let mut queue = self.outbox.lock();
        if !queue.is_open(self.stream) {
            return None;
        }
        let message = queue.messages.pop_front()?;
        queue.bytes -= message.len();
        Some(message)
    }

    /// Whether messages still go to this stream.
    pub fn is_open(&self) -> bool {
        self.outbox.lock().is_open(self.stream)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.outbox.lock().open -= 1;
    }
}
