//! The slots of all parties of one upstream.

use std::sync::Arc;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use super::slot::Slot;
use crate::pipeline::party::PartyId;

/// One slot for each party, up to a limit.
#[derive(Debug)]
pub(super) struct Sessions<T> {
    slots: DashMap<PartyId, Arc<Slot<T>>>,
    limit: usize,
}

impl<T: Send + Sync + 'static> Sessions<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self { slots: DashMap::new(), limit }
    }

    /// The slot of a party, made at its first use; none when the limit is reached. Parties that come in the same
    /// moment may exceed the limit by their number.
    pub(super) fn slot(&self, party: PartyId) -> Option<Arc<Slot<T>>> {
        if let Some(slot) = self.slots.get(&party) {
            return Some(Arc::clone(&slot));
        }
        if self.slots.len() >= self.limit {
            return None;
        }
        match self.slots.entry(party) {
            Entry::Occupied(slot) => Some(Arc::clone(slot.get())),
            Entry::Vacant(place) => Some(Arc::clone(&place.insert(Arc::new(Slot::new())))),
        }
    }

    /// The slot of a party that was here.
    pub(super) fn get(&self, party: PartyId) -> Option<Arc<Slot<T>>> {
        self.slots.get(&party).map(|slot| Arc::clone(&slot))
    }

    /// Takes a party's slot out.
    pub(super) fn remove(&self, party: PartyId) -> Option<Arc<Slot<T>>> {
        self.slots.remove(&party).map(|(_, slot)| slot)
    }

    /// Every slot.
    pub(super) fn all(&self) -> Vec<Arc<Slot<T>>> {
        self.each(|_| true)
    }

    /// The slots of the parties that this is true for.
    pub(super) fn each(&self, of: impl Fn(PartyId) -> bool) -> Vec<Arc<Slot<T>>> {
        let chosen = self.slots.iter().filter(|slot| of(*slot.key()));
        chosen.map(|slot| Arc::clone(&slot)).collect()
    }

    /// Takes every slot out.
    pub(super) fn drain(&self) -> Vec<Arc<Slot<T>>> {
        let all = self.all();
        self.slots.clear();
        all
    }
}
