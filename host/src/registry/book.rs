//! The leases of every connector.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::Uri;
use tokio::sync::Notify;

use super::join::Placed;
use super::lease::{Holder, Known, Lease, Standing, Trial, Verdict, Wanted};
use super::names::Names;
use super::request::Registration;
use super::rules::{Place, Rules, overlap};
use crate::config::{Address, Target};
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

#[derive(Debug, Default)]
struct Shelf {
    leases: BTreeMap<Arc<str>, Lease>,
    names: Names,
}

/// What a registration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// There is a new lease.
    Registered,
    /// The lease lasts longer.
    Renewed,
    /// So it does, at another address.
    Moved,
    /// So it does; another address is looked at before it counts.
    Weighed,
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
        let mut state = self.lock();
        let next = state.count + 1;
        let shelf = state.shelves.entry(rules.connector.clone()).or_default();
        let (done, lease) = match shelf.leases.get_mut(&asked.name) {
            Some(lease) if lease.holder.id != holder.id => return Err(taken(&asked.name)),
            Some(lease) => (renew(lease, place, asked, now), lease.clone()),
            None => {
                shelf.admits(rules, holder, &asked.name, now)?;
                shelf.names.take(&asked.name);
                let lease = new(holder.clone(), asked, next, now);
                shelf.leases.insert(lease.name.clone(), lease.clone());
                (Done::Registered, lease)
            }
        };
        if done == Done::Registered {
            state.count = next;
        }
        if matches!(done, Done::Registered | Done::Moved) {
            state.revision += 1;
        }
        drop(state);
        self.changed.notify_one();
        Ok((done, lease))
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

    /// When the next lease lapses.
    pub fn next_end(&self) -> Option<Instant> {
        let state = self.lock();
        state.shelves.values().flat_map(|shelf| shelf.leases.values()).map(|one| one.until).min()
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

    /// No upstream can be made of the leases of this name; says whether that is new of one of them.
    pub fn refuse(&self, name: &str, why: &str) -> bool {
        let mut state = self.lock();
        let leases = state.shelves.values_mut().filter_map(|shelf| shelf.leases.get_mut(name));
        let mut is_new = false;
        for lease in leases.filter(|lease| lease.broken.is_none()) {
            lease.broken = Some(format!("It cannot be used: {why}.").into());
            is_new = true;
        }
        is_new
    }

    /// Looks that are due at other addresses, at most so many; they count as begun.
    pub fn trials(&self, most: usize) -> Vec<Trial> {
        let mut state = self.lock();
        let mut due = Vec::new();
        for (connector, shelf) in &mut state.shelves {
            for lease in shelf.leases.values_mut() {
                let wanted = lease.wanted.as_mut().filter(|wanted| wanted.known == Known::Nothing);
                let Some(wanted) = wanted.filter(|_| due.len() < most) else { continue };
                wanted.known = Known::Looking;
                let (connector, name) = (connector.clone(), lease.name.clone());
                let (settings, url) = (wanted.settings.clone(), wanted.url.clone());
                due.push(Trial { connector, name, settings, url });
            }
        }
        due
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

impl Shelf {
    /// Whether there is room for a new lease, and its name is free for this holder.
    fn admits(&self, rules: &Rules, holder: &Holder, name: &str, now: Instant) -> Result<(), Fault> {
        if self.names.owner(name, now).is_some_and(|(id, _)| *id != holder.id) {
            return Err(taken(name));
        }
        let others = || self.leases.values().filter(|lease| lease.holder.id != holder.id);
        if let Some(other) = others().find(|lease| overlap(&lease.name, name)) {
            let text = format!(
                "The name {name:?} could make names of tools that belong to the server {:?}.", other.name
            );
            return Err(Fault::new(Code::NameTaken, text));
        }
        let most = rules.registry.max_of_identity;
        if self.leases.len() - others().count() >= most {
            let text = format!("You hold {most} leases, which is as many as you may: remove one.");
            return Err(Fault::new(Code::Forbidden, text));
        }
        if self.leases.len() >= rules.registry.max {
            let text = format!("There are {} leases: try later.", rules.registry.max);
            return Err(Fault::new(Code::Overloaded, text));
        }
        Ok(())
    }

    /// Ends a lease; its name stays its holder's.
    fn end(&mut self, name: &str, now: Instant) -> Option<Lease> {
        let lease = self.leases.remove(name)?;
        self.names.keep(lease.name.clone(), lease.holder.id.clone(), now);
        Some(lease)
    }
}

fn new(holder: Holder, asked: Registration, order: u64, now: Instant) -> Lease {
    let Registration { name, url, ttl, labels } = asked;
    let (until, standing) = (now + ttl, Standing::Joining);
    let (wanted, broken) = (None, None);
    Lease { name, holder, url, ttl, until, labels, standing, wanted, broken, order }
}

fn renew(lease: &mut Lease, place: Place<'_>, asked: Registration, now: Instant) -> Done {
    let Registration { url, ttl, labels, .. } = asked;
    (lease.until, lease.ttl, lease.labels) = (now + ttl, ttl, labels);
    if url == lease.url {
        lease.wanted = None;
        return Done::Renewed;
    }
    let (Place::Entry(entry), Standing::Serving) = (place, &lease.standing) else {
        move_to(lease, url);
        return Done::Moved;
    };
    // Whoever looks at it now says what it is.
    let looking = lease.wanted.as_ref().is_some_and(|wanted| {
        wanted.url == url && wanted.known == Known::Looking
    });
    if !looking {
        let mut settings = entry.clone();
        if let Target::Leased(transport) = settings.target {
            settings.target = Target::Http(Address { url: url.clone(), transport });
        }
        lease.wanted = Some(Wanted { url, settings, known: Known::Nothing });
    }
    Done::Weighed
}

fn move_to(lease: &mut Lease, url: Uri) {
    lease.url = url;
    lease.standing = Standing::Joining;
    (lease.wanted, lease.broken) = (None, None);
}

fn taken(name: &str) -> Fault {
    let text = format!("The name {name:?} belongs to somebody else.");
    Fault::new(Code::NameTaken, text)
}

fn unknown(name: &str) -> Fault {
    let name: String = name.chars().take(64).collect();
    Fault::new(Code::UnknownName, format!("You hold no lease of the name {name:?}."))
}
