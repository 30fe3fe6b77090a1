//! What is counted about an upstream.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::pipeline::port::Numbers;

/// The numbers of one upstream.
#[derive(Debug, Default)]
pub(super) struct Tally {
    in_flight: AtomicU64,
    children: AtomicU64,
    streams_opened: AtomicU64,
    streams_active: AtomicU64,
    streams_unsupported: AtomicU64,
    catalogues_read: AtomicU64,
}

impl Tally {
    /// A request of a client, until this is dropped.
    pub(super) fn request(self: &Arc<Self>) -> Counted {
        Counted::new(self, |tally| &tally.in_flight)
    }

    /// A child process, until this is dropped.
    pub(super) fn child(self: &Arc<Self>) -> Counted {
        Counted::new(self, |tally| &tally.children)
    }

    /// An event stream of plugway's own, until this is dropped.
    pub(super) fn stream(self: &Arc<Self>) -> Counted {
        self.streams_opened.fetch_add(1, Relaxed);
        Counted::new(self, |tally| &tally.streams_active)
    }

    /// The server has no such stream.
    pub(super) fn no_stream(&self) {
        self.streams_unsupported.fetch_add(1, Relaxed);
    }

    /// The catalogue was read.
    pub(super) fn read(&self) {
        self.catalogues_read.fetch_add(1, Relaxed);
    }

    /// The numbers now; sessions are known elsewhere.
    pub(super) fn numbers(&self, sessions: u64) -> Numbers {
        // active first: a stream that opens in between is not closed
        let streams_active = self.streams_active.load(Relaxed);
        let streams_opened = self.streams_opened.load(Relaxed);
        Numbers {
            sessions,
            children: self.children.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
            streams_opened,
            streams_active,
            streams_closed: streams_opened.saturating_sub(streams_active),
            streams_unsupported: self.streams_unsupported.load(Relaxed),
            catalogues_read: self.catalogues_read.load(Relaxed),
        }
    }
}

/// Something that is counted as long as this lives.
#[derive(Debug)]
pub(super) struct Counted {
    tally: Arc<Tally>,
    which: fn(&Tally) -> &AtomicU64,
}

impl Counted {
    fn new(tally: &Arc<Tally>, which: fn(&Tally) -> &AtomicU64) -> Self {
        which(tally).fetch_add(1, Relaxed);
        Self { tally: Arc::clone(tally), which }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.tally).fetch_sub(1, Relaxed);
    }
}
