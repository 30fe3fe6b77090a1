//! The confirmations of a connector: which wait on a stream, and which states were used.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::{
    OPEN, OPEN_BYTES, OPEN_BYTES_OF_CALLER, OPEN_OF_CALLER, USED, USED_OF_CALLER, USED_OF_STRANGERS,
};
use crate::fault::{Code, Fault};
use crate::pipeline::caller::Caller;

/// Shared by all connectors of a name, one after the other.
pub(in crate::pipeline) struct Confirmations {
    table: Mutex<Table>,
    stopping: CancellationToken,
    /// Where the times in states count from.
    begun: Instant,
}

#[derive(Default)]
struct Table {
    /// Calls that wait on their streams, by the id of their caller.
    open: HashMap<Arc<str>, Held>,
    all: Held,
    /// States that were used, by when they are over and their numbers: whose they are.
    used: BTreeMap<(Instant, u64), Arc<str>>,
    used_of: HashMap<Arc<str>, usize>,
    last: u64,
}

/// What waits.
#[derive(Clone, Copy, Default)]
struct Held {
    calls: usize,
    /// Of their requests and questions.
    bytes: usize,
}

/// A state that was used before, or is over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// It was used.
    Used,
    /// It is too old.
    Over,
}

impl Default for Confirmations {
    fn default() -> Self {
        let stopping = CancellationToken::new();
        Self { table: Mutex::default(), stopping, begun: Instant::now() }
    }
}

impl Confirmations {
    /// A call that holds so many bytes waits on its stream, until the guard is dropped.
    pub(super) fn open(self: &Arc<Self>, caller: &Caller, bytes: usize) -> Result<Open, Fault> {
        let mut table = self.lock();
        let (all, own) = (table.all, table.open.get(&caller.id).copied().unwrap_or_default());
        let is_full = all.calls >= OPEN || all.bytes.saturating_add(bytes) > OPEN_BYTES;
        let is_own_full = own.calls >= OPEN_OF_CALLER
            || (own.calls > 0 && own.bytes.saturating_add(bytes) > OPEN_BYTES_OF_CALLER);
        if is_full || is_own_full {
            return Err(crowded());
        }
        table.all = all.with(bytes);
        table.open.insert(caller.id.clone(), own.with(bytes));
        drop(table);
        Ok(Open { all: self.clone(), caller: caller.id.clone(), bytes })
    }

    /// A number for a state that is good for so long, and when that is over.
    pub(super) fn number(&self, patience: Duration, now: Instant) -> (u64, u64) {
        let mut table = self.lock();
        table.last += 1;
        let due = now.saturating_duration_since(self.begun) + patience;
        (table.last, u64::try_from(due.as_millis()).unwrap_or(u64::MAX))
    }

    /// Whether a state is too old to be used.
    pub(super) fn is_over(&self, (_, due): (u64, u64), now: Instant) -> bool {
        self.due(due) <= now
    }

    fn due(&self, due: u64) -> Instant {
        self.begun + Duration::from_millis(due)
    }

    /// Uses a state, which can be done once.
    pub(super) fn using(
        &self,
        caller: &Caller,
        (number, due): (u64, u64),
        now: Instant,
    ) -> Result<Result<(), Spent>, Fault> {
        let due = self.due(due);
        if due <= now {
            return Ok(Err(Spent::Over));
        }
        let mut table = self.lock();
        table.forget(now);
        if table.used.contains_key(&(due, number)) {
            return Ok(Err(Spent::Used));
        }
        let own = table.used_of.get(&caller.id).copied().unwrap_or_default();
        let limit = if caller.anonymous { USED_OF_STRANGERS } else { USED_OF_CALLER };
        if table.used.len() >= USED || own >= limit {
            return Err(crowded());
        }
        table.used.insert((due, number), caller.id.clone());
        *table.used_of.entry(caller.id.clone()).or_default() += 1;
        Ok(Ok(()))
    }

    /// Nobody is asked any more, and who was asked is not waited for.
    pub(in crate::pipeline) fn stop(&self) {
        self.stopping.cancel();
    }

    /// Until nobody is asked any more.
    pub(super) async fn stopped(&self) {
        self.stopping.cancelled().await;
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// States that are over cannot be used: nothing has to be known of them.
    fn forget(&mut self, now: Instant) {
        while let Some(first) = self.used.first_entry() {
            let (due, _) = first.key();
            if *due > now {
                return;
            }
            let caller = first.remove();
            if let Some(count) = self.used_of.get_mut(&caller) {
                *count -= 1;
                if *count == 0 {
                    self.used_of.remove(&caller);
                }
            }
        }
    }
}

impl Held {
    fn with(self, bytes: usize) -> Self {
        Self { calls: self.calls + 1, bytes: self.bytes + bytes }
    }

    fn without(self, bytes: usize) -> Self {
        Self { calls: self.calls - 1, bytes: self.bytes - bytes }
    }
}

/// A call that waits on its stream.
pub(super) struct Open {
    all: Arc<Confirmations>,
    caller: Arc<str>,
    bytes: usize,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut table = self.all.lock();
        table.all = table.all.without(self.bytes);
        if let Some(own) = table.open.get_mut(&self.caller) {
            *own = own.without(self.bytes);
            if own.calls == 0 {
                table.open.remove(&self.caller);
            }
        }
    }
}

fn crowded() -> Fault {
    let text = "Too many calls of this server wait for a confirmation, or were confirmed: try again later.";
    Fault::new(Code::Overloaded, text)
}

impl fmt::Debug for Confirmations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.lock();
        f.debug_struct("Confirmations")
            .field("open", &table.all.calls)
            .field("used", &table.used.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Confirmations {
    /// How many calls wait, and how many used states are remembered.
    pub(in crate::pipeline) fn counts(&self) -> (usize, usize) {
        let table = self.lock();
        (table.all.calls, table.used.len())
    }
}
