//! Calls that hold an instance while they wait for servers. They leave enough instances for the questions that every call
//! waits for, and neither one caller nor one server that does not answer takes the room of all others.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::breaker::Who;
use super::limits::{WAITING_PART, WAITING_PART_OF_CALLER};

/// How many calls of a plugin in a connector wait.
#[derive(Debug)]
pub(super) struct Waits {
    most: usize,
    most_of_caller: usize,
    most_at_server: usize,
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    all: usize,
    callers: HashMap<Who, usize>,
    servers: HashMap<Box<str>, usize>,
}

/// The right of one call to wait, until it is dropped.
#[derive(Debug)]
pub(super) struct Waiting {
    waits: Arc<Waits>,
    who: Who,
    server: Box<str>,
}

impl Waits {
    /// For a plugin with so many instances: half of them may wait, of these half for one caller, and all but a quarter at one
    /// server.
    pub(super) fn of(instances: usize) -> Self {
        let most = (instances / WAITING_PART).max(1);
        let most_of_caller = (most / WAITING_PART_OF_CALLER).max(1);
        Self { most, most_of_caller, most_at_server: most - most / 4, now: Mutex::default() }
    }

    /// One call more waits for a server; none if there are too many.
    pub(super) fn enter(self: Arc<Self>, who: Who, server: &str) -> Option<Waiting> {
        let mut now = self.lock();
        let of_caller = now.callers.get(&who).copied().unwrap_or_default();
        let at_server = now.servers.get(server).copied().unwrap_or_default();
        let crowded = now.all >= self.most
            || of_caller >= self.most_of_caller
            || at_server >= self.most_at_server;
        if crowded {
            return None;
        }
        now.all += 1;
        now.callers.insert(who, of_caller + 1);
        now.servers.insert(server.into(), at_server + 1);
        drop(now);
        Some(Waiting { waits: self, who, server: server.into() })
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut now = self.waits.lock();
        now.all = now.all.saturating_sub(1);
        one_less(&mut now.callers, &self.who);
        one_less(&mut now.servers, &self.server);
    }
}

fn one_less<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
