//! Sessions and parties as an operator sees them: who uses what, and nothing that anybody could use in its place.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::store::Sessions;
use crate::protocol::Era;

/// One session, or one party of the modern era.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Keyed hash of the session's id, or of the party's number.
    pub tag: Arc<str>,
    /// Legacy for a session, modern for a party.
    pub era: Era,
    /// Name of the connector.
    pub connector: Arc<str>,
    /// The caller for people.
    pub caller: Arc<str>,
    /// Since it was opened.
    pub age: Duration,
    /// Since its last request began.
    pub idle: Duration,
    /// Requests in flight.
    pub in_flight: usize,
}

impl Sessions {
    /// At most `limit` sessions and parties in the order of their tags, those behind `after`.
    pub fn list(&self, after: &str, limit: usize) -> Vec<Listed> {
        let now = self.now();
        let since = |at: u64| Duration::from_millis(now.saturating_sub(at));
        let sessions = self.each(|session| Listed {
            tag: session.tag.clone(),
            era: Era::Legacy,
            connector: session.connector.clone(),
            caller: session.caller.display.clone(),
            age: since(session.opened),
            idle: since(session.idle_since()),
            in_flight: session.flights.len(),
        });
        let parties = self.parties.all().into_iter().map(|party| Listed {
            tag: self.tag(&party.id.0.to_le_bytes()),
            era: Era::Modern,
            connector: party.connector.clone(),
            caller: party.caller.display.clone(),
            age: since(party.opened),
            idle: since(party.touched.load(Ordering::Relaxed)),
            in_flight: party.in_flight.load(Ordering::Relaxed),
        });
        let mut all: Vec<Listed> =
            sessions.into_iter().chain(parties).filter(|listed| &*listed.tag > after).collect();
        all.sort_unstable_by(|one, other| one.tag.cmp(&other.tag));
        all.truncate(limit);
        all
    }
}
