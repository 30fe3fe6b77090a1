//! The last events of one stream.

use std::collections::VecDeque;

use bytes::Bytes;

use super::{MAX_BYTES, MAX_EVENTS};

/// Events in their order. Each has a position: the first is 1, and none is left out.
#[derive(Debug, Default)]
pub(super) struct Replay {
    events: VecDeque<Bytes>,
    bytes: usize,
    last: u64,
}

impl Replay {
    /// Takes the next event.
    pub(super) fn push(&mut self, event: Bytes) {
        self.last += 1;
        self.bytes += event.len();
        self.events.push_back(event);
    }

    /// The position of the last event.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The position before the first event that is still here.
    pub(super) fn floor(&self) -> u64 {
        self.last - self.events.len() as u64
    }

    /// Bytes that are held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The event that follows this position, where it is here.
    pub(super) fn after(&self, position: u64) -> Option<&Bytes> {
        let place = position.checked_sub(self.floor())?;
        self.events.get(usize::try_from(place).ok()?)
    }

    /// Whether everything that follows this position is here.
    pub(super) fn reaches(&self, position: u64) -> bool {
        (self.floor()..=self.last).contains(&position)
    }

    /// How many events and bytes follow this position.
    pub(super) fn behind(&self, position: u64) -> (usize, usize) {
        let read = usize::try_from(position.saturating_sub(self.floor())).unwrap_or(usize::MAX);
        let rest = self.events.iter().skip(read);
        (rest.len(), rest.map(Bytes::len).sum())
    }

    /// Lets go of the oldest events beyond the bounds, but of none that somebody who is at `needed` has yet to read.
    pub(super) fn trim(&mut self, needed: Option<u64>) {
        self.trim_to(MAX_EVENTS, MAX_BYTES, needed);
    }

    /// Lets go of everything but what somebody who is at `needed` has yet to read.
    pub(super) fn forget(&mut self, needed: Option<u64>) {
        self.trim_to(0, 0, needed);
    }

    fn trim_to(&mut self, events: usize, bytes: usize, needed: Option<u64>) {
        while self.events.len() > events || self.bytes > bytes {
            if needed.is_some_and(|position| self.floor() >= position) {
                return;
            }
            let Some(event) = self.events.pop_front() else { return };
            self.bytes -= event.len();
        }
    }
}
