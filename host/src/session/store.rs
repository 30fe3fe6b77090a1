//! All sessions of the process: found by id, bounded in number, expired when idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use dashmap::DashMap;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::asks::Asks;
use super::flight::Flights;
use super::id::SessionId;
use super::listens::Listens;
use super::opener::Opener;
use super::outbox::SessionOutbox;
use super::parties::{CallerParty, Parties, PartyGuard};
use super::record::Session;
use super::streams::Streams;
use crate::fault::{Code, Fault};
use crate::hex::hex;
use crate::pipeline::port::{Audience, End, Joined, Listener};
use crate::pipeline::{Caller, Outbox, Party, PartyId, Viewer, party};
use crate::protocol::{Field, Message, Revision};

/// Bounds of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Sessions at once.
    pub max: usize,
    /// A session without requests and without an open stream ends after so long.
    pub idle: Duration,
}

impl SessionLimits {
    pub(super) fn idle_ms(&self) -> u64 {
        u64::try_from(self.idle.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Milliseconds since some start: given by whoever owns the clock, so that expiry can be tested.
pub type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// The sessions.
pub struct Sessions {
    by_id: DashMap<SessionId, Arc<Session>>,
    pub(super) parties: Parties,
    listens: Arc<Listens>,
    limits: SessionLimits,
    clock: Clock,
    key: [u8; 32],
    next_party: AtomicU64,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Sessions {
    /// An empty store.
    pub fn new(limits: SessionLimits, clock: Clock) -> Result<Self, Fault> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| {
            Fault::new(Code::Internal, "The system has no randomness.").because(error.to_string())
        })?;
        let next_party = AtomicU64::new(1);
        let (parties, listens) = (Parties::new(limits), Arc::new(Listens::new(limits.max)));
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let by_id = DashMap::new();
        Ok(Self { by_id, parties, listens, limits, clock, key, next_party, tasks, stop })
    }

    /// Where the tasks of sessions run, and what ends them.
    #[must_use]
    pub fn running(self, tasks: TaskTracker, stop: CancellationToken) -> Self {
        Self { tasks, stop, ..self }
    }

    /// Runs something that goes on without its client, until plugway stops.
    pub fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move { stop.run_until_cancelled(task).await });
    }

    /// A party that no session stands for.
    pub fn next_party(&self) -> PartyId {
        // In one order with the change that a mark stands for.
        PartyId(self.next_party.fetch_add(1, Ordering::SeqCst))
    }

    /// Opens a session for a client that sent `initialize`. Without an identity the session is its own caller.
    pub fn open(
        &self,
        connector: &Arc<str>,
        opener: Opener<'_>,
        revision: Revision,
        initialize: &Message,
    ) -> Result<Arc<Session>, Fault> {
        if self.by_id.len() >= self.limits.max {
            let text =
                format!("This server has {} sessions open: try again later.", self.limits.max);
            return Err(Fault::new(Code::Overloaded, text).retry_after(Duration::from_secs(5)));
        }
        let id = SessionId::random()?;
        let tag = self.tag(&id.bits());
        let now = self.now();
        let Opener { caller, credential } = opener;
        let nobody = || Arc::new(Caller::anonymous(tag.clone()).with_credential(credential));
        let caller = caller.unwrap_or_else(nobody);
        let outbox = Arc::new(SessionOutbox::default());
        let party = Party {
            id: self.next_party(),
            revision,
            shared_by_strangers: false,
            client_info: initialize.field(Field::ClientInfo).map(Arc::from),
            capabilities: initialize.field(Field::Capabilities).map(Arc::from),
            further: party::further(initialize),
            loads: Some(Arc::default()),
            outbox: outbox.clone(),
        };
        let asks = Asks::of(connector, &caller.display, &tag);
        let session = Arc::new(Session {
            id,
            connector: connector.clone(),
            caller,
            party: Arc::new(party),
            tag,
            flights: Arc::new(Flights::default()),
            asks,
            outbox,
            streams: Streams::default(),
            filters: ArcSwapOption::const_empty(),
            opened: now,
            touched: AtomicU64::new(now),
        });
        self.by_id.insert(id, session.clone());
        session.tell("session-open");
        Ok(session)
    }

    /// The session that a header names, if it is one of this connector and of this caller; one of nobody in particular
    /// for a request without identity. Everything else is the same answer, so that nobody learns which sessions exist.
    pub fn find(
        &self,
        connector: &str,
        caller: Option<&Caller>,
        id: &str,
    ) -> Result<Arc<Session>, Fault> {
        let found = SessionId::parse(id).and_then(|id| {
            let session = self.by_id.get(&id)?;
            let same = *session.connector == *connector
                && match caller {
                    Some(caller) => caller.id == session.caller.id,
                    None => session.caller.anonymous,
                };
            // Touched while the entry is held, so that no sweep takes it out in between.
            same.then(|| {
                session.touch(self.now());
                session.clone()
            })
        });
        found.ok_or_else(|| {
            let text = "Unknown or expired session: initialize again.";
            Fault::new(Code::SessionUnknown, text)
        })
    }

    /// Takes a session out; the caller of this ends it.
    pub fn remove(&self, id: SessionId) -> Option<Arc<Session>> {
        self.by_id.remove(&id).map(|(_, session)| session)
    }

    /// Takes out the sessions that were idle for too long. A session in use now counts as idle from now on.
    pub fn expired(&self) -> Vec<Arc<Session>> {
        let now = self.now();
        let limit = now.saturating_sub(self.limits.idle_ms());
        let old = |session: &Session| session.idle_since() < limit && !session.busy();
        let mut ids = Vec::new();
        for session in &self.by_id {
            session.streams.sweep(now);
            if session.busy() {
                session.touch(now);
            } else if old(&session) {
                ids.push(session.id);
            }
        }
        // A request may have come for one of them in the meantime.
        ids.into_iter()
            .filter_map(|id| self.by_id.remove_if(&id, |_, session| old(session)))
            .map(|(_, session)| session)
            .collect()
    }

    /// Takes out every session that this is true for.
    pub fn take(&self, of: impl Fn(&Session) -> bool) -> Vec<Arc<Session>> {
        let chosen = self.by_id.iter().filter(|session| of(session));
        let ids: Vec<SessionId> = chosen.map(|session| session.id).collect();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    /// Ends the stream of every session, and every subscription, those that are still to come included; calls in flight go
    /// on.
    pub fn close_streams(&self) {
        self.listens.close();
        for session in &self.by_id {
            session.outbox.close();
        }
    }

    /// The party of an identified caller of the modern era, held while its request is served.
    pub fn enter(&self, connector: &Arc<str>, caller: &Arc<Caller>) -> Result<PartyGuard, Fault> {
        self.parties.enter(connector, caller, self.now(), || self.next_party())
    }

    /// Takes out the parties that were idle for too long; the caller of this ends them.
    pub fn expired_parties(&self) -> Vec<Arc<CallerParty>> {
        self.parties.expired(self.now())
    }

    /// Takes out every party that this is true for.
    pub fn take_parties(&self, of: impl Fn(&CallerParty) -> bool) -> Vec<Arc<CallerParty>> {
        self.parties.take(of)
    }

    /// How many parties of identified callers of the modern era there are.
    pub fn parties(&self) -> usize {
        self.parties.len()
    }

    /// What this makes of each session, in no order.
    pub fn each<T>(&self, of: impl Fn(&Session) -> T) -> Vec<T> {
        self.by_id.iter().map(|session| of(&session)).collect()
    }

    pub(super) fn now(&self) -> u64 {
        (self.clock)()
    }

    /// Ends the subscriptions at connectors whose names this is true for.
    pub fn end_subscriptions(&self, how: End, of: impl Fn(&str) -> bool) {
        self.listens.end(how, of);
    }

    /// Ends the stream of every session, and every subscription; clients open others where they still may.
    pub fn interrupt_streams(&self) {
        self.listens.end(End::Abrupt, |_| true);
        for session in &self.by_id {
            session.outbox.interrupt();
        }
    }

    /// After how long a session ends that nobody uses.
    pub fn idle(&self) -> Duration {
        self.limits.idle
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is no session.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// A keyed hash: stands for something that must not be shown.
    pub(super) fn tag(&self, secret: &[u8]) -> Arc<str> {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return "".into() };
        mac.update(secret);
        hex(mac.finalize().into_bytes().get(..16).unwrap_or_default()).into()
    }
}

impl Audience for Sessions {
    fn mark(&self) -> PartyId {
        PartyId(self.next_party.load(Ordering::SeqCst))
    }

    fn listeners(&self, connector: &str) -> Vec<Listener> {
        let own = self.by_id.iter().filter(|session| *session.connector == *connector);
        let sessions = own.map(|session| Listener {
            party: session.party.id,
            caller: session.caller.clone(),
            capabilities: session.party.capabilities.clone(),
            filters: session.filters.load_full(),
            loads: session.party.loads.clone(),
            outbox: session.outbox.clone(),
        });
        sessions.chain(self.listens.of(connector)).collect()
    }

    fn join(
        &self,
        connector: &Arc<str>,
        viewer: Viewer<'_>,
        outbox: Arc<dyn Outbox>,
    ) -> Result<Joined, Fault> {
        let stream = Listener {
            party: self.next_party(),
            caller: viewer.caller.clone(),
            capabilities: viewer.capabilities.cloned(),
            filters: viewer.filters.cloned(),
            loads: None,
            outbox,
        };
        self.listens.enter(connector, stream)
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("len", &self.len()).finish_non_exhaustive()
    }
}
