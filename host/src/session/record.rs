//! One session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwapOption;

use super::asks::Asks;
use super::flight::Flights;
use super::id::SessionId;
use super::outbox::SessionOutbox;
use super::streams::Streams;
use crate::pipeline::inbound::Toward;
use crate::pipeline::{Caller, Connector, Filters, Party, RequestId};
use crate::protocol::{Field, Id, Message, Method, message, scan};
use crate::telemetry::audit::{self, Said};

/// What is remembered of a client of the legacy era.
#[derive(Debug)]
pub struct Session {
    /// Its opaque name.
    pub id: SessionId,
    /// Name of the connector it belongs to; elsewhere it is unknown.
    pub connector: Arc<str>,
    /// Who opened it.
    pub caller: Arc<Caller>,
    /// On whose behalf upstreams are asked.
    pub party: Arc<Party>,
    /// Keyed hash of the id, for plugins and logs.
    pub tag: Arc<str>,
    /// Requests in flight.
    pub flights: Arc<Flights>,
    /// What servers ask the client.
    pub asks: Asks,
    /// What waits for the client's stream.
    pub outbox: Arc<SessionOutbox>,
    /// What was sent, and may have to be sent again.
    pub streams: Streams,
    /// What its client said last about what is to be shown; none = nothing that a policy may read.
    pub(super) filters: ArcSwapOption<Filters>,
    /// Milliseconds on the store's clock.
    pub(super) opened: u64,
    pub(super) touched: AtomicU64,
}

impl Session {
    /// Whom messages of servers are for that belong to no request.
    pub fn toward(&self) -> Toward {
        Toward {
            request_id: RequestId::next(),
            caller: self.caller.clone(),
            session: Some(self.tag.clone()),
            revision: self.party.revision,
            filters: self.filters.load_full(),
        }
    }

    /// A request came with this about what is to be shown: what the client is told counts by it from now on.
    pub fn wants(&self, filters: Option<&Arc<Filters>>) {
        // Nearly always neither says anything.
        if filters.is_some() || self.filters.load().is_some() {
            self.filters.store(filters.cloned());
        }
    }

    /// Passes a cancellation on to the upstream that has the request.
    pub async fn cancel(&self, id: &Id, notification: Message) {
        let flight = self.flights.find(id);
        if let Some(upstream) = flight.as_ref().and_then(|flight| flight.upstream()) {
            upstream.notify(self.party.id, notification).await;
        }
        if let Some(flight) = flight {
            flight.cancel();
        }
    }

    /// Passes a notification of the client on: a cancellation and the progress of a server's request to the one whom it
    /// concerns, everything else to every upstream that the session has been at.
    pub async fn notify(&self, connector: &Connector, notification: Message) {
        match notification.method() {
            Method::Initialized => {}
            Method::Cancelled => {
                if let Some(id) = notification.field(Field::RequestId).and_then(Id::parse) {
                    self.cancel(&id, notification).await;
                }
            }
            Method::Progress => {
                let Some((name, progress)) = self.asks.progress(&notification) else { return };
                let place = connector.place_of(&name);
                if let Some(upstream) = place.and_then(|place| connector.upstream(place)) {
                    upstream.notify(self.party.id, progress).await;
                }
            }
            _ => {
                let all = connector.upstreams.iter();
                let told =
                    all.map(|served| served.upstream.notify(self.party.id, notification.clone()));
                futures_util::future::join_all(told).await;
            }
        }
    }

    /// Ends its calls, and what the upstreams of its connector keep for the session.
    pub async fn end(&self, connector: Option<&Connector>) {
        self.tell("session-close");
        self.flights.cancel_all();
        self.outbox.close();
        self.asks.clear();
        let upstreams = connector.into_iter().flat_map(|connector| &connector.upstreams);
        let leaving = upstreams.map(|served| served.upstream.leave(self.party.id));
        futures_util::future::join_all(leaving).await;
    }

    /// Tells the audit that it was opened, or ends.
    pub(super) fn tell(&self, kind: &'static str) {
        let client = self.party.client_info.as_deref().and_then(client_name);
        audit::event(
            kind,
            &[
                ("connector", Said::Text(&self.connector)),
                ("caller", Said::Text(&self.caller.display)),
                ("caller_id", Said::Text(&self.caller.id)),
                ("session", Said::Text(&self.tag)),
                ("client", Said::Text(client.as_deref().unwrap_or_default())),
                ("revision", Said::Text(self.party.revision.as_str())),
            ],
        );
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

/// The name in `clientInfo`.
fn client_name(info: &str) -> Option<std::borrow::Cow<'_, str>> {
    message::string(info.get(scan::member(info, "name")?.range())?)
}
