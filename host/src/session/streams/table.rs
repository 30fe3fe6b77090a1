//! The streams of one session.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::call::{CallStream, Reader, Resumption, Writer};
use super::{EventId, MAX_BYTES, MAX_SESSION_BYTES, MAX_STREAMS, OwnStream};

/// The streams that a client may come back for. The others go on as long as their connections do.
#[derive(Debug, Default)]
pub struct Streams {
    /// That which answers nothing.
    pub own: Arc<OwnStream>,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    /// Oldest first.
    kept: VecDeque<Arc<CallStream>>,
    last: u64,
}

/// A stream that holds no more than this leaves room for all others.
const SHARE: usize = MAX_SESSION_BYTES / MAX_STREAMS;

impl Streams {
    /// The stream of a new answer.
    pub fn open(&self) -> (Writer, Reader) {
        let mut calls = self.lock();
        calls.last += 1;
        let (writer, reader) = CallStream::open(calls.last);
        calls.kept.push_back(writer.0.clone());
        if calls.kept.len() > MAX_STREAMS {
            calls.forget_one();
        }
        drop(calls);
        (writer, reader)
    }

    /// Reads on behind this event of an answer.
    pub fn resume(&self, id: EventId) -> Resumption {
        let calls = self.lock();
        let stream = calls.kept.iter().find(|stream| stream.number() == id.stream).cloned();
        drop(calls);
        stream.map_or(Resumption::Gone, |stream| stream.resume(id.position))
    }

    /// Writes a message to an answer's stream, and forgets others where all hold too much together.
    pub async fn append(&self, writer: &Writer, message: &[u8]) {
        if writer.append(message).await <= SHARE {
            return;
        }
        let mut calls = self.lock();
        while calls.kept.iter().map(|stream| stream.held()).sum::<usize>() > MAX_SESSION_BYTES {
            calls.forget_one();
        }
    }

    /// Forgets the streams that ended some time ago.
    pub fn sweep(&self, now: u64) {
        self.lock().kept.retain(|stream| !stream.expired(now));
    }

    /// How many streams are kept.
    pub fn len(&self) -> usize {
        self.lock().kept.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    /// Forgets the oldest of those that are worth least.
    fn forget_one(&mut self) {
        let all = self.kept.iter().enumerate();
        let least = all.min_by_key(|(_, stream)| stream.worth()).map(|(place, _)| place);
        if let Some(stream) = least.and_then(|place| self.kept.remove(place)) {
            stream.forget();
        }
    }
}

const _: () = assert!(SHARE <= MAX_BYTES);
