//! Ids that servers invented for their callers: sessions, jobs and batches of code-execution servers. Whose an id is, is
//! what plugins ask before they let anybody use it.

use std::cmp::Reverse;
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
    owners: HashMap<Arc<Name>, Owner>,
    callers: HashMap<Arc<str>, Own>,
    /// Ids of all callers, each as often as there are upstreams that gave it.
    ids: usize,
    /// Counts uses, so that there always is a first and a last one.
    uses: u64,
}

/// An id, wherever it was invented.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Name {
    kind: Box<str>,
    id: Box<str>,
}

/// An id at the server that invented it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Handle {
    upstream: Arc<str>,
    name: Arc<Name>,
}

/// Whose an id is. One caller may have it at several upstreams, as where two of them lead to the same server.
#[derive(Debug)]
struct Owner {
    caller: Arc<str>,
    upstreams: Vec<Arc<str>>,
}

/// What one caller has.
#[derive(Debug, Default)]
struct Own {
    ids: IndexMap<Handle, Used>,
    last: u64,
}

/// The last use of an id. What else is known of it will stand beside it: the worker that has it, once there are several.
#[derive(Clone, Copy, Debug)]
struct Used {
    at: Instant,
    order: u64,
}

impl Handles {
    /// The id belongs to the caller from now on, unless somebody else has it, there or at any other upstream: a server could
    /// else give away what another one gave.
    pub fn claim(&self, keeper: &Keeper<'_>, upstream: &str, kind: &str, id: &str) -> bool {
        let Some(handle) = Handle::new(upstream, kind, id) else { return false };
        self.lock().claim(keeper.caller, handle, Instant::now())
    }

    /// Whether the id belongs to the caller, at this upstream or at any; this is a use of it.
    pub fn owns(&self, keeper: &Keeper<'_>, upstream: Option<&str>, kind: &str, id: &str) -> bool {
        self.lock().owns(keeper.caller, (upstream, kind, id), Instant::now())
    }

    /// The caller's ids of a kind at this upstream; what was used last comes first.
    pub fn list(&self, keeper: &Keeper<'_>, upstream: &str, kind: &str) -> Vec<String> {
        if !keeper.apart {
            return Vec::new();
        }
        let (table, now) = (self.lock(), Instant::now());
        let Some(own) = table.callers.get(keeper.caller) else { return Vec::new() };
        let alive = own.ids.iter().filter(|(handle, used)| {
            *handle.upstream == *upstream && *handle.name.kind == *kind && !used.is_over(now)
        });
        let mut alive: Vec<_> = alive.collect();
        alive.sort_unstable_by_key(|(_, used)| Reverse(used.order));
        alive.into_iter().map(|(handle, _)| handle.name.id.to_string()).collect()
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
        if !self.is_free(caller, &handle.name, now) {
            return false;
        }
        self.uses += 1;
        let own = self.callers.entry(caller.clone()).or_default();
        own.last = self.uses;
        let used = Used { at: now, order: self.uses };
        if own.ids.insert(handle.clone(), used).is_none() {
            self.ids += 1;
            let Handle { upstream, name } = handle;
            let owner = self.owners.entry(name);
            let owner = owner.or_insert_with(|| Owner::new(caller.clone()));
            owner.upstreams.push(upstream);
        }
        self.make_room(caller);
        true
    }

    /// Whether nobody but the caller has an id. What somebody else did not use for too long is forgotten.
    fn is_free(&mut self, caller: &Arc<str>, name: &Arc<Name>, now: Instant) -> bool {
        let Some(owner) = self.owners.get(name).filter(|owner| owner.caller != *caller) else {
            return true;
        };
        let (other, handles) = (owner.caller.clone(), owner.handles(name));
        let own = self.callers.get(&other);
        let used = |handle: &Handle| own.and_then(|own| own.ids.get(handle));
        if handles.iter().filter_map(used).any(|used| !used.is_over(now)) {
            return false;
        }
        for handle in &handles {
            self.forget(&other, handle);
        }
        true
    }

    fn owns(
        &mut self,
        caller: &Arc<str>,
        (upstream, kind, id): (Option<&str>, &str, &str),
        now: Instant,
    ) -> bool {
        let Some(name) = Name::new(kind, id) else { return false };
        let owner = self.owners.get_key_value(&name).filter(|(_, owner)| owner.caller == *caller);
        let Some((name, owner)) = owner else { return false };
        let handles = owner.handles(name);
        let Some(own) = self.callers.get_mut(caller) else { return false };
        let asked =
            |handle: &&Handle| upstream.is_none_or(|upstream| *handle.upstream == *upstream);
        let mut any = false;
        for handle in handles.iter().filter(asked) {
            let Some(used) = own.ids.get_mut(handle).filter(|used| !used.is_over(now)) else {
                continue;
            };
            self.uses += 1;
            *used = Used { at: now, order: self.uses };
            own.last = self.uses;
            any = true;
        }
        any
    }

    fn forget(&mut self, caller: &Arc<str>, handle: &Handle) {
        let Some(own) = self.callers.get_mut(caller) else { return };
        let gone = own.ids.swap_remove(handle).is_some();
        if own.ids.is_empty() {
            self.callers.remove(caller);
        }
        if gone {
            self.disown(handle);
        }
    }

    /// Nobody has the id at this upstream any more.
    fn disown(&mut self, handle: &Handle) {
        self.ids -= 1;
        let Some(owner) = self.owners.get_mut(&handle.name) else { return };
        owner.upstreams.retain(|upstream| *upstream != handle.upstream);
        if owner.upstreams.is_empty() {
            self.owners.remove(&handle.name);
        }
    }

    /// Forgets what is too much after a claim.
    fn make_room(&mut self, caller: &Arc<str>) {
        let own = self.callers.get(caller).filter(|own| own.ids.len() > IDS);
        let oldest = own.and_then(|own| own.ids.iter().min_by_key(|(_, used)| used.order));
        if let Some(oldest) = oldest.map(|(handle, _)| handle.clone()) {
            self.forget(caller, &oldest);
        }
        while self.callers.len() > CALLERS || self.ids > ALL {
            let quietest = self.callers.iter().min_by_key(|(_, own)| own.last);
            let Some(quietest) = quietest.map(|(caller, _)| caller.clone()) else { return };
            let gone = self.callers.remove(&quietest).unwrap_or_default();
            for handle in gone.ids.keys() {
                self.disown(handle);
            }
        }
    }
}

impl Owner {
    fn new(caller: Arc<str>) -> Self {
        Self { caller, upstreams: Vec::with_capacity(1) }
    }

    /// The id at each upstream that gave it.
    fn handles(&self, name: &Arc<Name>) -> Vec<Handle> {
        let at = |upstream: &Arc<str>| Handle { upstream: upstream.clone(), name: name.clone() };
        self.upstreams.iter().map(at).collect()
    }
}

impl Name {
    /// None for what is no id: empty, or too long.
    fn new(kind: &str, id: &str) -> Option<Self> {
        let fits = (1..=LONGEST).contains(&id.len()) && (1..=KIND).contains(&kind.len());
        fits.then(|| Self { kind: kind.into(), id: id.into() })
    }
}

impl Handle {
    fn new(upstream: &str, kind: &str, id: &str) -> Option<Self> {
        let name = Name::new(kind, id).filter(|_| !upstream.is_empty())?;
        Some(Self { upstream: upstream.into(), name: Arc::new(name) })
    }
}

impl Used {
    fn is_over(self, now: Instant) -> bool {
        now.saturating_duration_since(self.at) >= IDLE
    }
}

#[cfg(test)]
mod tests;
