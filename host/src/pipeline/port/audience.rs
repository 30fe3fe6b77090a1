//! Whom a connector can tell something by itself.

use std::sync::Arc;

use crate::pipeline::caller::Caller;
use crate::pipeline::party::{Outbox, PartyId};

/// A legacy session, as far as it is told something.
pub struct Listener {
    /// Its party. Parties are numbered in the order in which they come.
    pub party: PartyId,
    /// Whose session it is.
    pub caller: Arc<Caller>,
    /// Takes what the client is told.
    pub outbox: Arc<dyn Outbox>,
}

/// The legacy sessions of every connector.
pub trait Audience: Send + Sync {
    /// A number that every party from now on has or exceeds, and no party so far.
    fn mark(&self) -> PartyId;
    /// The sessions of the connector of this name, in no order; their number is bounded.
    fn listeners(&self, connector: &str) -> Vec<Listener>;
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("party", &self.party).finish_non_exhaustive()
    }
}
