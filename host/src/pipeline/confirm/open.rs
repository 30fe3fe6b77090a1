//! The confirmations of a connector: which wait on a stream, and which states were used.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::{OPEN, OPEN_OF_CALLER, USED, USED_OF_CALLER, USED_OF_STRANGERS};
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
    open: HashMap<Arc<str>, usize>,
    all: usize,
    /// States that were used, by their numbers, which grow with time: until when they are good, and whose they are.
    used: BTreeMap<u64, (Instant, Arc<str>)>,
    used_of: HashMap<Arc<str>, usize>,
    last: u64,
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
    /// A call waits on its stream, until the guard is dropped.
    pub(super) fn open(self: &Arc<Self>, caller: &Caller) -> Result<Open, Fault> {
        let mut table = self.lock();
        let own = table.open.get(&caller.id).copied().unwrap_or_default();
        if table.all >= OPEN || own >= OPEN_OF_CALLER {
            return Err(crowded());
        }
        table.all += 1;
        *table.open.entry(caller.id.clone()).or_default() += 1;
        drop(table);
        Ok(Open { all: self.clone(), caller: caller.id.clone() })
    }

    /// A number for a state that is good for so long, and when that is over.
    pub(super) fn number(&self, patience: Duration, now: Instant) -> (u64, u64) {
        let mut table = self.lock();
        table.last += 1;
        let due = now.saturating_duration_since(self.begun) + patience;
        (table.last, u64::try_from(due.as_millis()).unwrap_or(u64::MAX))
    }

    /// Uses a state, which can be done once.
    pub(super) fn using(
        &self,
        caller: &Caller,
        (number, due): (u64, u64),
        now: Instant,
    ) -> Result<Result<(), Spent>, Fault> {
        let due = self.begun + Duration::from_millis(due);
        if due <= now {
            return Ok(Err(Spent::Over));
        }
        let mut table = self.lock();
        table.forget(now);
        if table.used.contains_key(&number) {
            return Ok(Err(Spent::Used));
        }
        let own = table.used_of.get(&caller.id).copied().unwrap_or_default();
        let limit = if caller.anonymous { USED_OF_STRANGERS } else { USED_OF_CALLER };
        if table.used.len() >= USED || own >= limit {
            return Err(crowded());
        }
        table.used.insert(number, (due, caller.id.clone()));
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
    /// States that are over cannot be used: nothing has to be known of them. Numbers are given in the order of time, so that the
    /// oldest stand first; one of a longer patience only keeps what stands behind it for longer.
    fn forget(&mut self, now: Instant) {
        while let Some(first) = self.used.first_entry() {
            let (due, caller) = first.get();
            if *due > now {
                return;
            }
            let caller = caller.clone();
            first.remove();
            decrease(&mut self.used_of, &caller);
        }
    }
}

fn decrease(counts: &mut HashMap<Arc<str>, usize>, caller: &Arc<str>) {
    if let Some(count) = counts.get_mut(caller) {
        *count -= 1;
        if *count == 0 {
            counts.remove(caller);
        }
    }
}

/// A call that waits on its stream.
pub(super) struct Open {
    all: Arc<Confirmations>,
    caller: Arc<str>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut table = self.all.lock();
        table.all -= 1;
        decrease(&mut table.open, &self.caller);
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
            .field("open", &table.all)
            .field("used", &table.used.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Confirmations {
    /// How many calls wait, and how many used states are remembered.
    pub(super) fn counts(&self) -> (usize, usize) {
        let table = self.lock();
        (table.all, table.used.len())
    }
}
