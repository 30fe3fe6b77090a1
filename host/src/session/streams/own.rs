//! The stream of a session that answers nothing (GET): what was sent on it, for a client that lost its connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::EventId;
use super::replay::Replay;
use crate::protocol::sse;
use crate::session::outbox::{Listener, SessionOutbox, Waiting};

/// What was sent. What was not waits in the outbox.
#[derive(Debug, Default)]
pub struct OwnStream(Mutex<Replay>);

/// What one connection reads.
#[derive(Debug)]
pub struct OwnReader {
    stream: Arc<OwnStream>,
    listener: Listener,
    /// The position that it has read.
    read: u64,
    /// How many events it missed, since they are not here any more.
    pub missed: u64,
}

impl OwnStream {
    /// Reads what comes from now on, or what follows this position; none when no event had it. Whoever read before gets
    /// nothing more.
    pub fn read(
        self: &Arc<Self>,
        outbox: &Arc<SessionOutbox>,
        behind: Option<u64>,
    ) -> Option<OwnReader> {
        let sent = self.lock();
        let wanted = behind.unwrap_or(sent.last());
        if wanted > sent.last() {
            return None;
        }
        let (read, listener) = (wanted.max(sent.floor()), outbox.listen());
        drop(sent);
        Some(OwnReader { stream: self.clone(), listener, read, missed: read - wanted })
    }

    fn lock(&self) -> MutexGuard<'_, Replay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OwnReader {
    /// The id of what it has read.
    pub fn id(&self) -> EventId {
        EventId { stream: EventId::OWN, position: self.read }
    }

    /// Waits until there is something to read; false when another connection took over or the session ended.
    pub async fn ready(&self) -> bool {
        let unread = self.stream.lock().after(self.read).is_some();
        if unread { self.listener.is_open() } else { self.listener.ready().await }
    }

    /// The next event that was sent before, and that this connection has not read.
    pub fn replayed(&mut self) -> Option<Bytes> {
        let event = self.stream.lock().after(self.read).cloned();
        self.read += u64::from(event.is_some());
        event
    }

    /// A message that waited. Whoever takes it puts it back once it is what the client gets.
    pub fn waiting(&self) -> Option<Waiting> {
        self.listener.is_open().then(|| self.listener.try_next())?
    }

    /// Sends a message: the event. Where another connection took over in the meantime, that one has it to read.
    pub fn put(&mut self, message: &[u8]) -> Bytes {
        let mut sent = self.stream.lock();
        let id = EventId { stream: EventId::OWN, position: sent.last() + 1 };
        let event = sse::encode_as(&id.to_string(), message);
        sent.push(event.clone());
        sent.trim(None);
        self.read = sent.last();
        event
    }

    /// The text of the next event, if there is one. `text` says what the client gets of a message that waited.
    pub fn take(&mut self, text: impl FnOnce(Waiting) -> Option<Bytes>) -> Option<Bytes> {
        // Held while a message goes from the outbox to what was sent, so that no other connection can miss it.
        let mut sent = self.stream.lock();
        if !self.listener.is_open() {
            return None;
        }
        if let Some(event) = sent.after(self.read) {
            self.read += 1;
            return Some(event.clone());
        }
        let message = text(self.listener.try_next()?)?;
        let id = EventId { stream: EventId::OWN, position: sent.last() + 1 };
        let event = sse::encode_as(&id.to_string(), &message);
        sent.push(event.clone());
        sent.trim(None);
        self.read = sent.last();
        Some(event)
    }
}
