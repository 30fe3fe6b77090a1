//! The file of pins as this process knows it, and what is told of the servers that it is about.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::file::{Broken, LockFile, PATIENCE, Stamp};
use super::lock::{FIRST_SIGHT, Lock, Record};
use crate::telemetry::audit::Act;

/// How often the file is looked at: an operator may have approved something.
const LOOK: Duration = Duration::from_millis(500);
/// Things that one sentence names; the others are counted.
const NAMED: usize = 8;

/// By connector and upstream.
type Notes = BTreeMap<(Arc<str>, Arc<str>), (u64, Note)>;

/// The file, shared by everything that is pinned.
#[derive(Debug)]
pub struct Ledger {
    file: LockFile,
    state: Mutex<Option<State>>,
    /// Counts up whenever the file says something else than before.
    changes: watch::Sender<u64>,
    /// With who said it last.
    notes: Mutex<Notes>,
    speakers: AtomicU64,
}

#[derive(Debug)]
struct State {
    known: Result<Arc<Lock>, Broken>,
    stamp: Stamp,
    /// Whether the file was ever there: one that vanishes is no reason to take everything as new.
    was_there: bool,
    /// Whether what people approved before this process knew the file is still to be marked as heard.
    unheard: bool,
}

/// What is told of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Note {
    /// Things that are held back.
    pub(super) held: usize,
    /// Things that are not as they were approved, held back or not: what each is, and why.
    pub(super) told: Vec<String>,
    /// How many of those wait for approval; the others cannot be approved.
    pub(super) waiting: usize,
    /// That nothing can be compared or written down, and why.
    pub(super) broken: Option<String>,
}

impl Ledger {
    /// Of the file at this path; it is read when something is compared with it.
    pub fn new(path: PathBuf) -> Self {
        let (changes, _) = watch::channel(0);
        let (state, notes) = (Mutex::default(), Mutex::default());
        let speakers = AtomicU64::new(0);
        Self { file: LockFile::new(path), state, changes, notes, speakers }
    }

    /// A number for one more that says what is to be told.
    pub(super) fn speaker(&self) -> u64 {
        self.speakers.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts up whenever the file says something else than before.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// What the file says. Blocks where it was not read yet.
    pub(super) fn known(&self) -> Result<Arc<Lock>, Broken> {
        let mut state = self.state();
        state.get_or_insert_with(|| self.read(None)).known.clone()
    }

    /// Writes these changes to it, and gives what it says then. Blocks, for at most `patience` while others write; whoever wants
    /// to know meanwhile what it says does not wait for that. Nothing is written over a file that is broken, or in the place of
    /// one that was there.
    pub(super) fn record(
        &self,
        records: Vec<Record>,
        patience: Duration,
    ) -> Result<Arc<Lock>, Broken> {
        let was_there = {
            let mut state = self.state();
            let before = state.get_or_insert_with(|| self.read(None));
            before.known.clone()?;
            before.was_there
        };
        let changed = self.file.change_within(patience, |lock, is_there| {
            if was_there && !is_there {
                return Err("it was there, and is not any more".to_owned());
            }
            let read = lock.clone();
            lock.apply_all(records);
            Ok(read)
        });
        let (lock, read, stamp) = changed?;
        let lock = Arc::new(lock);
        let mut state = self.state();
        let known = state.take().and_then(|before| before.known.ok());
        heard(known.as_deref(), &read);
        let unheard = !lock.unheard().is_empty();
        *state = Some(State { known: Ok(lock.clone()), stamp, was_there: true, unheard });
        drop(state);
        if known.is_none_or(|known| read != *known) {
            self.changes.send_modify(|count| *count += 1);
        }
        Ok(lock)
    }

    /// Looks whether the file is another one than before. Blocks.
    pub(super) fn look(&self) {
        self.mark();
        let mut state = self.state();
        // Before anything is compared with it nobody wants to know.
        let Some(before) = state.as_ref() else { return };
        if before.known.is_ok() && before.stamp == self.file.stamp() {
            return;
        }
        let now = self.read(Some(before));
        let same = now.known == before.known;
        let told = now.known.clone();
        *state = Some(now);
        drop(state);
        if same {
            return;
        }
        match told {
            Ok(_) => tracing::info!(file = %self.file.path().display(), "pins read again"),
            Err(error) => tracing::error!("pins cannot be used: {error}"),
        }
        self.changes.send_modify(|count| *count += 1);
    }

    fn read(&self, before: Option<&State>) -> State {
        let stamp = self.file.stamp();
        let was_there = before.is_some_and(|before| before.was_there);
        let (known, is_there): (Result<Arc<Lock>, Broken>, bool) = match self.file.read() {
            Ok(Some(lock)) => (Ok(Arc::new(lock)), true),
            Ok(None) if was_there => {
                (Err(self.file.broken("it was there, and is not any more")), true)
            }
            Ok(None) => (Ok(Arc::default()), false),
            Err(error) => (Err(error), true),
        };
        let old = before.and_then(|before| before.known.as_deref().ok());
        let unheard = known.as_deref().is_ok_and(|lock| {
            heard(old, lock);
            !lock.unheard().is_empty()
        });
        State { known, stamp, was_there: was_there || is_there, unheard }
    }

    /// Writes down that what people approved is in the audit: once, since a file that cannot be written is told elsewhere.
    fn mark(&self) {
        let mut state = self.state();
        let Some(now) = state.as_mut().filter(|now| now.unheard) else { return };
        now.unheard = false;
        let Ok(unheard) = now.known.as_deref().map(Lock::unheard) else { return };
        drop(state);
        if let Err(error) = self.record(vec![Record::Heard(unheard)], PATIENCE) {
            tracing::warn!("what was approved may stand in the audit twice: {error}");
        }
    }

    /// Looks at the file again and again, for as long as it is polled.
    pub async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(LOOK).await;
            let own = self.clone();
            // A look that broke off is followed by another one.
            drop(tokio::task::spawn_blocking(move || own.look()).await);
        }
    }

    /// What is to be told of an upstream from now on.
    pub(super) fn note(
        &self,
        speaker: u64,
        (connector, upstream): (&Arc<str>, &Arc<str>),
        note: Note,
    ) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.insert((connector.clone(), upstream.clone()), (speaker, note));
    }

    /// Nothing is to be told any more of what this one said.
    pub(super) fn forget(&self, speaker: u64) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.retain(|_, (by, _)| *by != speaker);
    }

    /// A sentence for each server that is not as it was approved.
    pub fn sentences(&self) -> Vec<String> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let told = notes.iter().filter_map(|((connector, upstream), (_, note))| {
            let what = note.sentence()?;
            Some(format!("{connector}/{upstream}: {what}"))
        });
        told.collect()
    }

    /// For each connector and upstream that is pinned, how many things of it are held back.
    pub fn held(&self) -> Vec<(Arc<str>, Arc<str>, u64)> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let held = notes.iter().map(|((connector, upstream), (_, note))| {
            let count = u64::try_from(note.held).unwrap_or(u64::MAX);
            (connector.clone(), upstream.clone(), count)
        });
        held.collect()
    }

    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Note {
    fn sentence(&self) -> Option<String> {
        if let Some(broken) = &self.broken {
            let effect = match (self.held, self.waiting) {
                (0, _) => "",
                (_, 0) => "; all of it is held back",
                _ => "; what is not approved is held back",
            };
            return Some(format!("{broken}{effect}"));
        }
        if self.told.is_empty() {
            return None;
        }
        let mut named: Vec<&str> = self.told.iter().take(NAMED).map(String::as_str).collect();
        let others = format!("and {} more", self.told.len().saturating_sub(NAMED));
        if self.told.len() > NAMED {
            named.push(&others);
        }
        let effect = if self.held > 0 { "is held back" } else { "is not as it was approved" };
        let then = match self.waiting {
            0 => "that cannot be approved as it is",
            all if all == self.told.len() => "`plugway pins diff` shows it",
            _ => {
                "`plugway pins diff` shows what of it waits for approval, the rest cannot be approved as it is"
            }
        };
        Some(format!("{effect}: {}; {then}", named.join(", ")))
    }
}

/// What people approved stands in the audit of the process that heard of it. Of a file that this process did not
/// know before, what stands in no audit yet.
fn heard(before: Option<&Lock>, now: &Lock) {
    for (key, all) in &now.pins {
        let by_people = all.iter().filter(|one| match before {
            Some(before) => {
                *one.approved_by != *FIRST_SIGHT && !before.is_approved(key, &one.digest)
            }
            None => one.unheard,
        });
        for one in by_people {
            let known = before.and_then(|before| before.newest(key));
            let others = all.iter().rev().find(|other| other.digest != one.digest);
            let old = known.or(others.filter(|_| before.is_none()));
            let old = old.map_or("none", |old| &*old.digest);
            let object = format!("{key} {old} -> {} at {}", one.digest, one.approved_at);
            let act = Act {
                request_id: "",
                who: &one.approved_by,
                from: "plugway.lock",
                action: "approve-pin",
                target: &object,
            };
            act.done();
        }
    }
}
