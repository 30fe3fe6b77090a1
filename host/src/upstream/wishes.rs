//! What parties subscribed to at a server: it outlives the session in which they did.

use std::collections::BTreeSet;
use std::sync::Arc;

use dashmap::DashMap;

use super::failure::Failure;
use super::limits::SUBSCRIPTIONS;
use crate::pipeline::party::PartyId;

/// The URIs of each party.
#[derive(Debug)]
pub(super) struct Wishes {
    by_party: DashMap<PartyId, BTreeSet<Arc<str>>>,
    server: Arc<str>,
    /// Parties that may have some.
    limit: usize,
}

impl Wishes {
    pub(super) fn new(server: Arc<str>, limit: usize) -> Self {
        Self { by_party: DashMap::new(), server, limit }
    }

    /// Fails where the party cannot want to hear of one more.
    pub(super) fn check(&self, party: PartyId, uri: &str) -> Result<(), Failure> {
        let Some(uris) = self.by_party.get(&party) else {
            // Parties that come in the same moment may exceed the limit by their number.
            let full = self.by_party.len() >= self.limit;
            return if full { Err(Failure::sessions(&self.server, self.limit)) } else { Ok(()) };
        };
        if uris.len() >= SUBSCRIPTIONS && !uris.contains(uri) {
            return Err(Failure::subscriptions(&self.server, SUBSCRIPTIONS));
        }
        Ok(())
    }

    /// From now on the party wants to hear of this URI.
    pub(super) fn add(&self, party: PartyId, uri: &str) -> Result<(), Failure> {
        self.check(party, uri)?;
        self.by_party.entry(party).or_default().insert(uri.into());
        Ok(())
    }

    /// It does not any more.
    pub(super) fn remove(&self, party: PartyId, uri: &str) {
        if let Some(mut uris) = self.by_party.get_mut(&party) {
            uris.remove(uri);
        }
        self.by_party.remove_if(&party, |_, uris| uris.is_empty());
    }

    /// What a party wants to hear of.
    pub(super) fn of(&self, party: PartyId) -> Vec<Arc<str>> {
        self.by_party.get(&party).map(|uris| uris.iter().cloned().collect()).unwrap_or_default()
    }

    /// Whether a party wants to hear of anything.
    pub(super) fn has(&self, party: PartyId) -> bool {
        self.by_party.contains_key(&party)
    }

    /// The party is gone.
    pub(super) fn forget(&self, party: PartyId) {
        self.by_party.remove(&party);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_bounded_and_nothing_is_left_of_who_has_none() {
        let wishes = Wishes::new("demo".into(), 1);
        let (one, other) = (PartyId(1), PartyId(2));
        for n in 0..SUBSCRIPTIONS {
            wishes.add(one, &n.to_string()).unwrap();
        }
        assert!(wishes.add(one, "0").is_ok() && wishes.add(one, "one more").is_err());
        assert!(wishes.add(other, "0").is_err(), "too many parties");
        for uri in wishes.of(one) {
            assert!(wishes.has(one));
            wishes.remove(one, &uri);
        }
        assert!(!wishes.has(one) && wishes.add(other, "0").is_ok());
        wishes.forget(other);
        assert!(wishes.by_party.is_empty());
    }
}
