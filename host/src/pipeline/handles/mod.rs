//! Ids that servers invented for their callers: sessions, jobs and batches of code-execution servers. Whose an id is, is
//! what plugins ask before they let anybody use it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;

/// Callers who have ids; for one more the one that was quiet the longest loses all of its own.
const CALLERS: usize = 8_192;
/// Ids of one caller; for one more the one that was not used the longest is forgotten.
const IDS: usize = 4_096;
/// Ids of all callers: for more of them the quietest callers lose theirs.
const ALL: usize = 65_536;
/// Longest id.
const LONGEST: usize = 256;
/// Longest word for a kind of ids.
const KIND: usize = 32;
/// How long an id is kept that nobody uses.
const IDLE: Duration = Duration::from_hours(24);

/// Which caller got which id. It outlives a reload, as sessions do.
#[derive(Debug, Default)]
pub struct Handles(Mutex<Table>);

/// Who asks about ids.
#[derive(Clone, Copy, Debug)]
pub struct Keeper<'a> {
    /// [`Caller::id`](super::Caller::id).
    pub caller: &'a Arc<str>,
    /// Whether all who have this id are the same one. Strangers who cannot be told apart may use an id that they present,
    /// and see no list.
    pub apart: bool,
}

#[derive(Debug, Default)]
struct Table {
    owners: HashMap<Arc<Handle>, Arc<str>>,
    callers: HashMap<Arc<str>, Own>,
    /// Counts uses, so that there always is a first and a last one.
    uses: u64,
}

/// An id at the server that invented it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Handle {
    upstream: Box<str>,
    kind: Box<str>,
    id: Box<str>,
}

/// What one caller has.
#[derive(Debug, Default)]
struct Own {
    ids: IndexMap<Arc<Handle>, Used>,
    last: u64,
}

/// The last use of an id. What else is known of it will stand beside it: the worker that has it, once there are several.
#[derive(Clone, Copy, Debug)]
struct Used {
    at: Instant,
    order: u64,
}

impl Handles {
    /// The id belongs to the caller from now on, unless it belongs to somebody else.
    pub fn claim(&self, keeper: &Keeper<'_>, upstream: &str, kind: &str, id: &str) -> bool {
        let Some(handle) = Handle::new(upstream, kind, id) else { return false };
        self.lock().claim(keeper.caller, handle, Instant::now())
    }

    /// Whether the id belongs to the caller, at this upstream or at any; this is a use of it.
    pub fn owns(&self, keeper: &Keeper<'_>, upstream: Option<&str>, kind: &str, id: &str) -> bool {
        self.lock().owns(keeper.caller, (upstream, kind, id), Instant::now())
    }

    /// The caller's ids of a kind at this upstream, in no order.
    pub fn list(&self, keeper: &Keeper<'_>, upstream: &str, kind: &str) -> Vec<String> {
        if !keeper.apart {
            return Vec::new();
        }
        let (table, now) = (self.lock(), Instant::now());
        let Some(own) = table.callers.get(keeper.caller) else { return Vec::new() };
        let alive = own.ids.iter().filter(|(handle, used)| {
            *handle.upstream == *upstream && *handle.kind == *kind && !used.is_over(now)
        });
        alive.map(|(handle, _)| handle.id.to_string()).collect()
    }

    /// The id belongs to the caller no more.
    pub fn release(&self, keeper: &Keeper<'_>, upstream: &str, kind: &str, id: &str) {
        if let Some(handle) = Handle::new(upstream, kind, id) {
            self.lock().forget(keeper.caller, &handle);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn claim(&mut self, caller: &Arc<str>, handle: Handle, now: Instant) -> bool {
        let other = self.owners.get(&handle).filter(|owner| *owner != caller).cloned();
        if let Some(other) = other {
            let used = self.callers.get(&other).and_then(|own| own.ids.get(&handle));
            if used.is_some_and(|used| !used.is_over(now)) {
                return false;
            }
            self.forget(&other, &handle);
        }
        let handle = Arc::new(handle);
        self.owners.insert(handle.clone(), caller.clone());
        self.uses += 1;
        let own = self.callers.entry(caller.clone()).or_default();
        own.last = self.uses;
        own.ids.insert(handle, Used { at: now, order: self.uses });
        self.make_room(caller);
        true
    }

    fn owns(
        &mut self,
        caller: &Arc<str>,
        (upstream, kind, id): (Option<&str>, &str, &str),
        now: Instant,
    ) -> bool {
        let Some(own) = self.callers.get_mut(caller) else { return false };
        let used = if let Some(upstream) = upstream {
            Handle::new(upstream, kind, id).and_then(|handle| own.ids.get_mut(&handle))
        } else {
            let mut all = own.ids.iter_mut();
            let same = |(handle, _): &(&Arc<Handle>, _)| *handle.kind == *kind && *handle.id == *id;
            all.find(same).map(|(_, used)| used)
        };
        let Some(used) = used.filter(|used| !used.is_over(now)) else { return false };
        self.uses += 1;
        *used = Used { at: now, order: self.uses };
        own.last = self.uses;
        true
    }

    fn forget(&mut self, caller: &Arc<str>, handle: &Handle) {
        let Some(own) = self.callers.get_mut(caller) else { return };
        if own.ids.swap_remove(handle).is_some() {
            self.owners.remove(handle);
        }
        if own.ids.is_empty() {
            self.callers.remove(caller);
        }
    }

    /// Forgets what is too much after a claim.
    fn make_room(&mut self, caller: &Arc<str>) {
        let own = self.callers.get(caller).filter(|own| own.ids.len() > IDS);
        let oldest = own.and_then(|own| own.ids.iter().min_by_key(|(_, used)| used.order));
        if let Some(oldest) = oldest.map(|(handle, _)| handle.clone()) {
            self.forget(caller, &oldest);
        }
        while self.callers.len() > CALLERS || self.owners.len() > ALL {
            let quietest = self.callers.iter().min_by_key(|(_, own)| own.last);
            let Some(quietest) = quietest.map(|(caller, _)| caller.clone()) else { return };
            let gone = self.callers.remove(&quietest).unwrap_or_default();
            for handle in gone.ids.keys() {
                self.owners.remove(handle);
            }
        }
    }
}

impl Handle {
    /// None for what is no id: empty, or too long.
    fn new(upstream: &str, kind: &str, id: &str) -> Option<Self> {
        let fits = !upstream.is_empty()
            && (1..=LONGEST).contains(&id.len())
            && (1..=KIND).contains(&kind.len());
        fits.then(|| Self { upstream: upstream.into(), kind: kind.into(), id: id.into() })
    }
}

impl Used {
    fn is_over(self, now: Instant) -> bool {
        now.saturating_duration_since(self.at) >= IDLE
    }
}

#[cfg(test)]
mod tests;
