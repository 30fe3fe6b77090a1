//! One session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::flight::Flights;
use super::id::SessionId;
use super::outbox::SessionOutbox;
use crate::pipeline::{Caller, Connector, Party};
use crate::protocol::{Id, Message};

/// What is remembered of a client of the legacy era.
#[derive(Debug)]
pub struct Session {
    /// Its opaque name.
    pub id: SessionId,
    /// The connector it belongs to; elsewhere it is unknown.
    pub connector: Arc<Connector>,
    /// Who opened it.
    pub caller: Arc<Caller>,
    /// On whose behalf upstreams are asked.
    pub party: Arc<Party>,
    /// Keyed hash of the id, for plugins and logs.
    pub tag: Arc<str>,
    /// Requests in flight.
    pub flights: Arc<Flights>,
    /// What waits for the client's stream.
    pub outbox: Arc<SessionOutbox>,
    /// Milliseconds on the store's clock.
    pub(super) touched: AtomicU64,
}

impl Session {
    /// Passes a cancellation on to the upstream that has the request.
    pub async fn cancel(&self, id: &Id, notification: Message) {
        let Some(place) = self.flights.find(id).and_then(|flight| flight.upstream()) else {
            return;
        };
        if let Some(upstream) = self.connector.upstream(place) {
            upstream.notify(self.party.id, notification).await;
        }
    }

    /// Ends what upstreams keep for the session.
    pub async fn end(&self) {
        self.outbox.close();
        let leaving =
            self.connector.upstreams.iter().map(|served| served.upstream.leave(self.party.id));
        futures_util::future::join_all(leaving).await;
    }

    pub(super) fn touch(&self, now: u64) {
        self.touched.store(now, Ordering::Relaxed);
    }

    pub(super) fn idle_since(&self) -> u64 {
        self.touched.load(Ordering::Relaxed)
    }

    pub(super) fn busy(&self) -> bool {
        self.outbox.has_listener() || !self.flights.is_empty()
    }
}
