//! The leases of every connector.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::Uri;
use tokio::sync::Notify;

use super::join::Placed;
use super::lease::{Holder, Known, Lease, Standing, Trial, Verdict};
use super::request::Registration;
use super::rules::{Place, Rules};
use super::shelf::{Done, Shelf, move_to, renew, taken};
use crate::fault::{Code, Fault};

/// The leases of this process. They do not outlive it: servers renew them within a third of their time.
#[derive(Debug, Default)]
pub struct Book {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// By connector.
    shelves: BTreeMap<Arc<str>, Shelf>,
    /// Another number whenever other servers are to be served.
    revision: u64,
    /// Leases so far.
    count: u64,
}

/// Leases of a connector by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The connector.
    pub connector: Arc<str>,
    /// About to be put in place.
    pub joining: u64,
    /// Served.
    pub serving: u64,
    /// Held back.
    pub held: u64,
}

impl Book {
    /// Registers a server, or renews its lease.
    pub fn register(
        &self,
        rules: &Rules,
        holder: &Holder,
        asked: Registration,
        now: Instant,
    ) -> Result<(Done, Lease), Fault> {
        let place = rules.place(&asked.name, &holder.shown, &asked.url)?;
        let mut guard = self.lock();
        let state = &mut *guard;
        let next = state.count + 1;
        let shelf = state.shelves.entry(rules.connector.clone()).or_default();
        let (done, lease) = match shelf.leases.get_mut(&asked.name) {
            Some(lease) if lease.holder.id != holder.id => return Err(taken(&asked.name)),
            Some(lease) => {
                if lease.broken.is_some() {
                    state.revision += 1;
                }
                (renew(lease, place, asked, now), lease.clone())
            }
            None => {
                shelf.admits(rules, holder, &asked.name, now)?;
                (Done::Registered, shelf.begin(holder.clone(), asked, next, now))
            }
        };
        if done == Done::Registered {
            state.count = next;
        }
        if matches!(done, Done::Registered | Done::Moved) {
            state.revision += 1;
        }
        drop(guard);
        self.changed.notify_one();
        Ok((done, lease))
    }

    /// Ends the lease of an entry whose holder the file accepts no more, where one whom it does accept asks for it; gives that
    /// lease back.
    pub fn make_way(&self, rules: &Rules, holder: &Holder, asked: &Registration) -> Option<Lease> {
        let Ok(Place::Entry(entry)) = rules.place(&asked.name, &holder.shown, &asked.url) else {
            return None;
        };
        let mut state = self.lock();
        let ended = state.shelves.get_mut(&rules.connector)?.make_way(entry)?;
        state.revision += 1;
        drop(state);
        self.changed.notify_one();
        Some(ended)
    }

    /// Ends a lease of this holder before its time.
    pub fn remove(
        &self,
        connector: &str,
        name: &str,
        holder: &Holder,
        now: Instant,
    ) -> Result<Lease, Fault> {
        let mut state = self.lock();
        let shelf = state.shelves.get_mut(connector);
        let own = shelf.and_then(|shelf| {
            let is_own = shelf.leases.get(name).is_some_and(|lease| lease.holder.id == holder.id);
            if is_own { shelf.end(name, now) } else { None }
        });
        let lease = own.ok_or_else(|| unknown(name))?;
        state.revision += 1;
        drop(state);
        self.changed.notify_one();
        Ok(lease)
    }

    /// A server of this holder leaves, which is at this address: the lease ends where that is the one that serves, and nobody
    /// waits to take its place; else it goes on at the other address. The flag says whether it ended.
    pub fn leave(
        &self,
        (connector, name): (&str, &str),
        holder: &Holder,
        url: &Uri,
        now: Instant,
    ) -> Result<(Lease, bool), Fault> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let shelf = state.shelves.get_mut(connector).ok_or_else(|| unknown(name))?;
        let lease = shelf.leases.get_mut(name).filter(|lease| lease.holder.id == holder.id);
        let lease = lease.ok_or_else(|| unknown(name))?;
        if lease.url != *url {
            lease.wanted = lease.wanted.take().filter(|wanted| wanted.url != *url);
            return Ok((lease.clone(), false));
        }
        let left = match lease.wanted.take() {
            Some(successor) => {
                move_to(lease, successor.url);
                (lease.clone(), false)
            }
            None => (shelf.end(name, now).ok_or_else(|| unknown(name))?, true),
        };
        state.revision += 1;
        drop(guard);
        self.changed.notify_one();
        Ok(left)
    }

    /// Leases go on at the address that their holders said last, once nobody promises any more that the one is good that
    /// serves: those, and their connectors.
    pub fn move_on(&self, now: Instant) -> Vec<(Arc<str>, Lease)> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut moved = Vec::new();
        for (connector, shelf) in &mut state.shelves {
            for lease in shelf.leases.values_mut().filter(|lease| lease.there_until <= now) {
                let Some(wanted) = lease.wanted.take() else { continue };
                move_to(lease, wanted.url);
                moved.push((connector.clone(), lease.clone()));
            }
        }
        if !moved.is_empty() {
            state.revision += 1;
            drop(guard);
            self.changed.notify_one();
        }
        moved
    }

    /// Ends the leases whose time is over: those, and their connectors.
    pub fn sweep(&self, now: Instant) -> Vec<(Arc<str>, Lease)> {
        let mut state = self.lock();
        let mut ended = Vec::new();
        for (connector, shelf) in &mut state.shelves {
            let over = shelf.leases.values().filter(|lease| lease.until <= now);
            let over: Vec<Arc<str>> = over.map(|lease| lease.name.clone()).collect();
            let over = over.iter().filter_map(|name| shelf.end(name, now));
            ended.extend(over.map(|lease| (connector.clone(), lease)));
        }
        if !ended.is_empty() {
            state.revision += 1;
            drop(state);
            self.changed.notify_one();
        }
        ended
    }

    /// The leases of a connector, as they were registered one after the other.
    pub fn leases(&self, connector: &str) -> Vec<Lease> {
        let state = self.lock();
        let shelf = state.shelves.get(connector);
        let mut all: Vec<Lease> =
            shelf.map(|shelf| shelf.leases.values().cloned().collect()).unwrap_or_default();
        all.sort_unstable_by_key(|lease| lease.order);
        all
    }

    /// A lease, where this holder has one of that name.
    pub fn lease(&self, connector: &str, name: &str, holder: &Holder) -> Result<Lease, Fault> {
        let state = self.lock();
        let lease = state.shelves.get(connector).and_then(|shelf| shelf.leases.get(name));
        let own = lease.filter(|lease| lease.holder.id == holder.id);
        own.cloned().ok_or_else(|| unknown(name))
    }

    /// Who holds the lease of an upstream, as logs show it; none where it is the file's alone.
    pub fn holder(&self, connector: &str, name: &str) -> Option<Arc<str>> {
        let state = self.lock();
        let lease = state.shelves.get(connector)?.leases.get(name)?;
        (lease.standing == Standing::Serving).then(|| lease.holder.shown.clone())
    }

    /// Another number whenever other servers are to be served.
    pub fn revision(&self) -> u64 {
        self.lock().revision
    }

    /// Waits until something changed since this was last waited for.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// When the next lease lapses, or goes on at another address.
    pub fn next_end(&self) -> Option<Instant> {
        let state = self.lock();
        let leases = state.shelves.values().flat_map(|shelf| shelf.leases.values());
        let ends = leases.map(|one| match one.wanted {
            Some(_) => one.until.min(one.there_until),
            None => one.until,
        });
        ends.min()
    }

    /// What was decided about each lease is in place now.
    pub fn settle(&self, placed: &[Placed]) {
        let mut state = self.lock();
        for Placed { connector, name, url, held } in placed {
            let shelf = state.shelves.get_mut(connector);
            let lease = shelf.and_then(|shelf| shelf.leases.get_mut(name));
            // One that moved meanwhile is put in place next.
            if let Some(lease) = lease.filter(|lease| lease.url == *url) {
                lease.standing = held.clone().map_or(Standing::Serving, Standing::Held);
            }
        }
    }

    /// No upstream can be made of this lease until it is renewed, for a reason that its holder may read: one sentence. Says
    /// whether that is new.
    pub fn refuse(&self, connector: &str, name: &str, why: &str) -> bool {
        let mut state = self.lock();
        let lease = state.shelves.get_mut(connector).and_then(|shelf| shelf.leases.get_mut(name));
        let Some(lease) = lease.filter(|lease| lease.broken.is_none()) else { return false };
        lease.broken = Some(why.into());
        true
    }

    /// Looks that are due at other addresses, at most so many, and first those that are due longest; they count as begun.
    pub fn trials(&self, most: usize) -> Vec<Trial> {
        let mut state = self.lock();
        let mut due = Vec::new();
        for (connector, shelf) in &mut state.shelves {
            for Lease { name, wanted, .. } in shelf.leases.values_mut() {
                let wanted = wanted.as_mut().filter(|wanted| wanted.known == Known::Nothing);
                due.extend(wanted.map(|wanted| (connector.clone(), name.clone(), wanted)));
            }
        }
        due.sort_by_key(|(_, _, wanted)| wanted.since);
        let begun = due.into_iter().take(most).map(|(connector, name, wanted)| {
            wanted.known = Known::Looking;
            let (settings, url) = (wanted.settings.clone(), wanted.url.clone());
            Trial { connector, name, settings, url }
        });
        begun.collect()
    }

    /// What a look showed; gives the lease back that it was about, where it still wants that address.
    pub fn judged(&self, trial: &Trial, verdict: Verdict) -> Option<Lease> {
        let mut state = self.lock();
        let lease = state.shelves.get_mut(&trial.connector)?.leases.get_mut(&trial.name)?;
        let wanted = lease.wanted.as_mut().filter(|wanted| wanted.url == trial.url)?;
        match verdict {
            Verdict::Held(why) => wanted.known = Known::Held(why),
            Verdict::Same => move_to(lease, trial.url.clone()),
        }
        let lease = lease.clone();
        if lease.wanted.is_none() {
            state.revision += 1;
            drop(state);
            self.changed.notify_one();
        }
        Some(lease)
    }

    /// How many leases there are, for each connector that ever had one.
    pub fn counts(&self) -> Vec<Counts> {
        let state = self.lock();
        let count = |(connector, shelf): (&Arc<str>, &Shelf)| {
            let mut counts = Counts { connector: connector.clone(), ..Counts::default() };
            for lease in shelf.leases.values() {
                match lease.state().0 {
                    "joining" => counts.joining += 1,
                    "serving" => counts.serving += 1,
                    _ => counts.held += 1,
                }
            }
            counts
        };
        state.shelves.iter().map(count).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown(name: &str) -> Fault {
    let name: String = name.chars().take(64).collect();
    Fault::new(Code::UnknownName, format!("You hold no lease of the name {name:?}."))
}
