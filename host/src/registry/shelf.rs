//! The leases of one connector, and what renewing one of them does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use http::Uri;

use super::lease::{Holder, Known, Lease, Standing, Wanted};
use super::names::Names;
use super::request::Registration;
use super::rules::{Place, Rules, overlap};
use crate::config::{Address, Target, UpstreamSettings};
use crate::fault::{Code, Fault};

/// The leases of one connector.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// By name.
    pub(super) leases: BTreeMap<Arc<str>, Lease>,
    /// Names of leases that ended.
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

impl Shelf {
    /// Whether there is room for a new lease, and its name is free for this holder.
    pub(super) fn admits(
        &self,
        rules: &Rules,
        holder: &Holder,
        name: &str,
        now: Instant,
    ) -> Result<(), Fault> {
        if self.names.owner(name, now).is_some_and(|(id, _)| *id != holder.id) {
            return Err(taken(name));
        }
        let others = || self.leases.values().filter(|lease| lease.holder.id != holder.id);
        // The name of an entry is the file's: whatever overlaps it has no place beside it.
        let is_entry = rules.is_entry(name);
        if !is_entry && self.names.overlap(name, &holder.id, now) {
            let text = format!(
                "The name {name:?} could make names of tools of a server that belongs to somebody else."
            );
            return Err(Fault::new(Code::NameTaken, text));
        }
        let overlapping = others().find(|lease| !is_entry && overlap(&lease.name, name));
        if let Some(other) = overlapping {
            let text = format!(
                "The name {name:?} could make names of tools that belong to the server {:?}.",
                other.name
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

    /// A new lease.
    pub(super) fn begin(
        &mut self,
        holder: Holder,
        asked: Registration,
        order: u64,
        now: Instant,
    ) -> Lease {
        let Registration { name, url, ttl, labels } = asked;
        let (until, standing) = (now + ttl, Standing::Joining);
        let (wanted, broken) = (None, None);
        let lease = Lease {
            name,
            holder,
            url,
            ttl,
            until,
            there_until: until,
            labels,
            standing,
            wanted,
            broken,
            order,
        };
        self.names.take(&lease.name);
        self.leases.insert(lease.name.clone(), lease.clone());
        lease
    }

    /// Ends a lease; its name stays its holder's.
    pub(super) fn end(&mut self, name: &str, now: Instant) -> Option<Lease> {
        let lease = self.leases.remove(name)?;
        self.names.keep(lease.name.clone(), lease.holder.clone(), now);
        Some(lease)
    }

    /// An entry of the file takes leases only of those whom it accepts: what anybody else has of it, or kept of it, is over.
    /// Gives back the lease that ended.
    pub(super) fn make_way(&mut self, entry: &UpstreamSettings) -> Option<Lease> {
        let is_foreign = |holder: &Holder| !entry.accept_leases.contains(&holder.shown);
        self.names.forget(&entry.name, is_foreign);
        let lease = self.leases.get(&entry.name).filter(|lease| is_foreign(&lease.holder));
        lease.is_some().then(|| self.leases.remove(&entry.name))?
    }
}

/// Makes a lease last longer, at the address that was said.
pub(super) fn renew(
    lease: &mut Lease,
    place: Place<'_>,
    asked: Registration,
    now: Instant,
) -> Done {
    let Registration { url, ttl, labels, .. } = asked;
    (lease.until, lease.ttl, lease.labels) = (now + ttl, ttl, labels);
    if lease.broken.take().is_some() {
        // What kept it from being used may be over.
        lease.standing = Standing::Joining;
    }
    if url == lease.url {
        (lease.wanted, lease.there_until) = (None, lease.until);
        return Done::Renewed;
    }
    let entry = match place {
        Place::Entry(entry) if lease.standing == Standing::Serving && now < lease.there_until => {
            entry
        }
        _ => {
            move_to(lease, url);
            return Done::Moved;
        }
    };
    // Whoever looks at it now says what it is.
    let looking = lease
        .wanted
        .as_ref()
        .is_some_and(|wanted| wanted.url == url && wanted.known == Known::Looking);
    if !looking {
        let mut settings = entry.clone();
        if let Target::Leased(transport) = settings.target {
            settings.target = Target::Http(Address::new(url.clone(), transport));
        }
        let (before, since) = match lease.wanted.take().filter(|wanted| wanted.url == url) {
            Some(Wanted { known: Known::Held(why), .. }) => (Some(why), now),
            Some(Wanted { before, since, .. }) => (before, since),
            None => (None, now),
        };
        let known = Known::Nothing;
        lease.wanted = Some(Wanted { url, settings, known, since, before });
    }
    Done::Weighed
}

/// It is at another address from now on.
pub(super) fn move_to(lease: &mut Lease, url: Uri) {
    (lease.url, lease.there_until) = (url, lease.until);
    lease.standing = Standing::Joining;
    (lease.wanted, lease.broken) = (None, None);
}

/// The fault of who asks for somebody else's name.
pub(super) fn taken(name: &str) -> Fault {
    let text = format!("The name {name:?} belongs to somebody else.");
    Fault::new(Code::NameTaken, text)
}
