//! What the server has in hand: sessions with a value each, jobs, batches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Its state. Nothing in it says whose anything is.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    connected: BTreeSet<String>,
    /// Each session and the value that it keeps.
    sessions: BTreeMap<String, String>,
    /// Each job and its session.
    pub(super) jobs: BTreeMap<String, String>,
    /// Each batch, its parent and its jobs.
    pub(super) batches: BTreeMap<String, (String, Vec<String>)>,
    pub(super) asked: Vec<String>,
    /// What it may send to, under each name: another server, never itself.
    pub(super) peers: BTreeMap<String, Arc<Mutex<Self>>>,
}

/// Digits that no other id of this process has.
fn digits(count: usize) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let all = format!("{number:016x}{:016x}", number.rotate_left(31));
    all.chars().take(count).collect()
}

impl Kernels {
    /// A new MCP session.
    pub(super) fn connect(&mut self) -> String {
        let id = digits(32);
        self.connected.insert(id.clone());
        id
    }

    pub(super) fn is_connected(&self, session: &str) -> bool {
        self.connected.contains(session)
    }

    pub(super) fn count(&self) -> usize {
        self.sessions.len()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &String> {
        self.sessions.keys()
    }

    /// The session of this id, which is made where there is none.
    pub(super) fn made(&mut self, id: &str) -> &mut String {
        self.sessions.entry(id.to_owned()).or_default()
    }

    /// The session of this id, or the sentence about one that is not there.
    pub(super) fn found(&mut self, id: &str) -> Result<&mut String, String> {
        self.asked.push(id.to_owned());
        let active = self.sessions.len();
        self.sessions.get_mut(id).ok_or_else(|| {
            format!(
                "Session {id} not found. It may have expired or been cleaned up. Active sessions: {active}"
            )
        })
    }

    pub(super) fn close(&mut self, id: &str) {
        self.asked.push(id.to_owned());
        self.sessions.remove(id);
    }

    pub(super) fn job(&mut self, session: &str) -> String {
        let id = format!("j_{}", digits(12));
        self.jobs.insert(id.clone(), session.to_owned());
        id
    }

    /// Puts what another server sends into the session of this id, else into the first one that there is; its id.
    pub(super) fn receive(&mut self, id: &str, value: &str) -> Result<String, String> {
        let first =
            || self.sessions.keys().next().ok_or("No active session found to receive the object");
        let id = if id.is_empty() { first()?.clone() } else { id.to_owned() };
        let held = self.sessions.get_mut(&id).ok_or_else(|| format!("Session '{id}' not found"))?;
        value.clone_into(held);
        Ok(id)
    }

    /// A batch with so many jobs, each in a session of its own.
    pub(super) fn batch(&mut self, parent: &str, count: usize) -> (String, Vec<String>) {
        let jobs: Vec<String> = (0..count)
            .map(|_| {
                let session = format!("{}-0000-4000-a000-{}", digits(8), digits(12));
                self.made(&session);
                self.job(&session)
            })
            .collect();
        let id = format!("b_{}", digits(12));
        self.batches.insert(id.clone(), (parent.to_owned(), jobs.clone()));
        (id, jobs)
    }
}
