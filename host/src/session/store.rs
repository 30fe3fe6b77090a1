//! All sessions of the process: found by id, bounded in number, expired when idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dashmap::DashMap;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::flight::Flights;
use super::id::SessionId;
use super::outbox::SessionOutbox;
use super::record::Session;
use crate::fault::{Code, Fault};
use crate::pipeline::{Caller, Connector, Party, PartyId};
use crate::protocol::{Field, Message, Revision};

/// Bounds of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Sessions at once.
    pub max: usize,
    /// A session without requests and without an open stream ends after so long.
    pub idle: Duration,
}

/// Milliseconds since some start: given by whoever owns the clock, so that expiry can be tested.
pub type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// The sessions.
pub struct Sessions {
    sessions: DashMap<SessionId, Arc<Session>>,
    limits: SessionLimits,
    clock: Clock,
    key: [u8; 32],
    next_party: AtomicU64,
}

impl Sessions {
    /// An empty store.
    pub fn new(limits: SessionLimits, clock: Clock) -> Result<Self, Fault> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| {
            Fault::new(Code::Internal, "The system has no randomness.").because(error.to_string())
        })?;
        let next_party = AtomicU64::new(1);
        Ok(Self { sessions: DashMap::new(), limits, clock, key, next_party })
    }

    /// A party that no session stands for.
    pub fn next_party(&self) -> PartyId {
        PartyId(self.next_party.fetch_add(1, Ordering::Relaxed))
    }

    /// Opens a session for a client that sent `initialize`. Without an identity the session is its own caller.
    pub fn open(
        &self,
        connector: &Arc<Connector>,
        caller: Option<Arc<Caller>>,
        revision: Revision,
        initialize: &Message,
    ) -> Result<Arc<Session>, Fault> {
        if self.sessions.len() >= self.limits.max {
            let text =
                format!("This server has {} sessions open: try again later.", self.limits.max);
            return Err(Fault::new(Code::Overloaded, text).retry_after(Duration::from_secs(5)));
        }
        let id = SessionId::random()?;
        let tag = self.tag(id);
        let caller = caller.unwrap_or_else(|| Arc::new(Caller::anonymous(tag.clone())));
        let outbox = Arc::new(SessionOutbox::default());
        let party = Party {
            id: self.next_party(),
            revision,
            shared_by_strangers: false,
            client_info: initialize.field(Field::ClientInfo).map(Arc::from),
            capabilities: initialize.field(Field::Capabilities).map(Arc::from),
            outbox: outbox.clone(),
        };
        let session = Arc::new(Session {
            id,
            connector: connector.clone(),
            caller,
            party: Arc::new(party),
            tag,
            flights: Arc::new(Flights::default()),
            outbox,
            touched: AtomicU64::new((self.clock)()),
        });
        self.sessions.insert(id, session.clone());
        Ok(session)
    }

    /// The session that a header names, if it is one of this connector and of this caller. Everything else is the
    /// same answer, so that nobody learns which sessions exist.
    pub fn find(
        &self,
        connector: &Arc<Connector>,
        caller: Option<&Caller>,
        id: &str,
    ) -> Result<Arc<Session>, Fault> {
        let found = SessionId::parse(id).and_then(|id| {
            let session = self.sessions.get(&id)?;
            let same = Arc::ptr_eq(&session.connector, connector)
                && caller.is_none_or(|caller| caller.id == session.caller.id);
            same.then(|| session.clone())
        });
        let Some(session) = found else {
            let text = "Unknown or expired session: initialize again.";
            return Err(Fault::new(Code::SessionUnknown, text));
        };
        session.touched.store((self.clock)(), Ordering::Relaxed);
        Ok(session)
    }

    /// Takes a session out; the caller of this ends it.
    pub fn remove(&self, id: SessionId) -> Option<Arc<Session>> {
        self.sessions.remove(&id).map(|(_, session)| session)
    }

    /// Takes out the sessions that were idle for too long.
    pub fn expired(&self) -> Vec<Arc<Session>> {
        let idle = u64::try_from(self.limits.idle.as_millis()).unwrap_or(u64::MAX);
        let limit = (self.clock)().saturating_sub(idle);
        let old: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|session| session.idle_since() < limit && !session.busy())
            .map(|session| session.id)
            .collect();
        old.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    /// Takes out every session.
    pub fn all(&self) -> Vec<Arc<Session>> {
        let ids: Vec<SessionId> = self.sessions.iter().map(|session| session.id).collect();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there is no session.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    fn tag(&self, id: SessionId) -> Arc<str> {
        use std::fmt::Write as _;
        let mut tag = String::with_capacity(32);
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) {
            mac.update(&id.bits());
            for byte in mac.finalize().into_bytes().iter().take(16) {
                // Writing to a string cannot fail.
                write!(tag, "{byte:02x}").unwrap_or_default();
            }
        }
        tag.into()
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("len", &self.len()).finish_non_exhaustive()
    }
}
