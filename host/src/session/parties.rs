//! Parties of identified callers of the modern era. Such a caller has no session with plugway, but what stateful servers
//! keep for it has to stay its own: one party for each connector and caller, until it was idle for long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use dashmap::DashMap;

use super::store::SessionLimits;
use crate::fault::{Code, Fault};
use crate::pipeline::{Caller, Connector, PartyId};

/// The parties by (name of the connector, id of the caller).
#[derive(Debug)]
pub(super) struct Parties {
    by_caller: DashMap<(Arc<str>, Arc<str>), Arc<CallerParty>>,
    limits: SessionLimits,
}

/// What upstreams know one caller of one connector by.
#[derive(Debug)]
pub struct CallerParty {
    /// Key of its sessions at upstreams.
    pub id: PartyId,
    /// Name of the connector.
    pub connector: Arc<str>,
    /// Whose it is, as it was identified first.
    pub caller: Arc<Caller>,
    /// Milliseconds on the store's clock.
    pub(super) opened: u64,
    pub(super) touched: AtomicU64,
    pub(super) in_flight: AtomicUsize,
}

/// Keeps a party while one of its requests is served; lives as long as the answer is being sent.
#[derive(Debug)]
pub struct PartyGuard(Arc<CallerParty>);

impl PartyGuard {
    /// The party.
    pub fn id(&self) -> PartyId {
        self.0.id
    }

    fn of(party: &Arc<CallerParty>, now: u64) -> Self {
        party.touched.store(now, Ordering::Relaxed);
        party.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(party.clone())
    }
}

impl Drop for PartyGuard {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Release);
    }
}

impl CallerParty {
    /// Ends what the upstreams of its connector keep for it.
    pub async fn end(&self, connector: Option<&Connector>) {
        let upstreams = connector.into_iter().flat_map(|connector| &connector.upstreams);
        let leaving = upstreams.map(|served| served.upstream.leave(self.id));
        futures_util::future::join_all(leaving).await;
    }

    fn busy(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) > 0
    }
}

impl Parties {
    pub(super) fn new(limits: SessionLimits) -> Self {
        Self { by_caller: DashMap::new(), limits }
    }

    /// The party of a caller, made at its first request. It is held while the entry is, so that no sweep takes it out
    /// in between.
    pub(super) fn enter(
        &self,
        connector: &Arc<str>,
        caller: &Arc<Caller>,
        now: u64,
        id: impl FnOnce() -> PartyId,
    ) -> Result<PartyGuard, Fault> {
        let key = (connector.clone(), caller.id.clone());
        if let Some(party) = self.by_caller.get(&key) {
            return Ok(PartyGuard::of(&party, now));
        }
        // Callers that come in the same moment may exceed the limit by their number.
        if self.by_caller.len() >= self.limits.max {
            let text = format!("This server serves {} callers: try again later.", self.limits.max);
            return Err(Fault::new(Code::Overloaded, text).retry_after(Duration::from_secs(5)));
        }
        let party = self.by_caller.entry(key).or_insert_with(|| {
            Arc::new(CallerParty {
                id: id(),
                connector: connector.clone(),
                caller: caller.clone(),
                opened: now,
                touched: AtomicU64::new(now),
                in_flight: AtomicUsize::new(0),
            })
        });
        Ok(PartyGuard::of(&party, now))
    }

    /// Takes out the parties that were idle for too long. One in use now counts as idle from now on.
    pub(super) fn expired(&self, now: u64) -> Vec<Arc<CallerParty>> {
        let limit = now.saturating_sub(self.limits.idle_ms());
        self.take(|party| {
            if party.busy() {
                party.touched.store(now, Ordering::Relaxed);
                return false;
            }
            party.touched.load(Ordering::Relaxed) < limit
        })
    }

    /// Takes out every party that this is true for.
    pub(super) fn take(&self, of: impl Fn(&CallerParty) -> bool) -> Vec<Arc<CallerParty>> {
        let mut taken = Vec::new();
        self.by_caller.retain(|_, party| {
            let leaves = of(party);
            if leaves {
                taken.push(party.clone());
            }
            !leaves
        });
        taken
    }

    pub(super) fn all(&self) -> Vec<Arc<CallerParty>> {
        self.by_caller.iter().map(|party| party.clone()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.by_caller.len()
    }
}
