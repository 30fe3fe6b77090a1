//! The calls of a connector that wait until their client comes back with the input that it was asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::limits::{OF_CALLER, OF_STRANGERS, PATIENCE, SUSPENDED};
use super::suspend::Waiting;
use crate::fault::{Code, Fault};
use crate::pipeline::caller::Caller;
use crate::pipeline::confirm::Confirmed;

/// The calls, by numbers that are never used again. A call that is given up is cancelled at its server, as one whose client
/// closes its stream.
pub(in crate::pipeline) struct Suspended {
    table: Mutex<Table>,
    changed: Notify,
    /// How long a client may take to answer.
    pub(super) patience: Duration,
}

#[derive(Default)]
struct Table {
    calls: BTreeMap<u64, Entry>,
    last: u64,
}

/// A call that waits for input.
pub(super) struct Entry {
    /// Id of the caller.
    caller: Arc<str>,
    /// When it is given up.
    due: Instant,
    /// The request id of the first try.
    pub(super) first: Arc<str>,
    /// What a person confirmed of it.
    pub(super) confirmed: Option<Arc<Confirmed>>,
    /// What goes on.
    pub(super) kept: Kept,
}

/// What goes on once the input is there.
pub(super) enum Kept {
    /// The call itself, which its server has begun.
    Call(Box<Waiting>),
    /// Nothing: the server ended the call, and is called again.
    Nothing,
}

impl Default for Suspended {
    fn default() -> Self {
        Self { table: Mutex::default(), changed: Notify::new(), patience: PATIENCE }
    }
}

impl Suspended {
    /// Keeps a call; its number.
    pub(super) fn keep(
        &self,
        caller: &Caller,
        (first, confirmed): (Arc<str>, Option<Arc<Confirmed>>),
        kept: Kept,
    ) -> Result<u64, Fault> {
        let mut table = self.lock();
        let given_up = table.make_room(caller)?;
        table.last += 1;
        let number = table.last;
        let (caller, due) = (caller.id.clone(), Instant::now() + self.patience);
        let entry = Entry { caller, due, first, confirmed, kept };
        table.calls.insert(number, entry);
        drop(table);
        drop(given_up);
        self.changed.notify_one();
        Ok(number)
    }

    /// Takes a call out; none when it went on, or was given up.
    pub(super) fn take(&self, number: u64) -> Option<Entry> {
        let entry = self.lock().calls.remove(&number)?;
        (entry.due > Instant::now()).then_some(entry)
    }

    /// Gives up the calls whose clients do not come back in time; runs until it is dropped.
    pub(in crate::pipeline) async fn sweep(&self) {
        loop {
            // All wait equally long: the first is the oldest.
            let next = self.lock().calls.first_key_value().map(|(_, entry)| entry.due);
            let Some(next) = next else {
                self.changed.notified().await;
                continue;
            };
            sleep_until(next).await;
            let mut over = Vec::new();
            let mut table = self.lock();
            while let Some(entry) = table.calls.first_entry() {
                if entry.get().due > Instant::now() {
                    break;
                }
                over.push(entry.remove());
            }
            drop(table);
            drop(over);
        }
    }

    /// Gives up every call: nobody will come back for it.
    pub(in crate::pipeline) fn give_up(&self) {
        let calls = std::mem::take(&mut self.lock().calls);
        drop(calls);
    }

    #[cfg(test)]
    pub(super) fn patient_for(patience: Duration) -> Self {
        Self { patience, ..Self::default() }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().calls.len()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Room for one more call of this caller; the one that is given up for it.
    fn make_room(&mut self, caller: &Caller) -> Result<Option<Entry>, Fault> {
        let mut own = self.calls.iter().filter(|(_, entry)| entry.caller == caller.id);
        let oldest = own.next().map(|(number, _)| *number);
        let count = own.count() + usize::from(oldest.is_some());
        if !caller.anonymous && count >= OF_CALLER {
            return Ok(oldest.and_then(|oldest| self.calls.remove(&oldest)));
        }
        // Nobody in particular is told apart: one must not end the calls of another.
        if self.calls.len() >= SUSPENDED || (caller.anonymous && count >= OF_STRANGERS) {
            let text =
                "Too many calls of this server wait for input of their clients: try again later.";
            return Err(Fault::new(Code::Overloaded, text));
        }
        Ok(None)
    }
}

impl fmt::Debug for Suspended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspended").field("calls", &self.lock().calls.len()).finish_non_exhaustive()
    }
}
