//! Sessions of the legacy era: what a client and plugway remember of each other between requests; and the parties that
//! stand for identified callers of the modern era.
//!
//! Reading order: [`id`] is the opaque name; [`record`] what is remembered; [`flight`] a request in flight within it;
//! [`asks`] what servers ask the client;
//! [`outbox`] what waits for the client's stream; [`streams`] what a client that lost its connection comes back for; [`store`]
//! finds, bounds and expires sessions; [`parties`] does so for callers without one, and `listens` keeps their subscriptions;
//! [`listing`] shows both to the operator.

pub mod asks;
pub mod flight;
pub mod id;
mod listens;
pub mod listing;
pub mod opener;
pub mod outbox;
pub mod parties;
pub mod record;
pub mod store;
pub mod streams;
#[cfg(test)]
mod tests;

pub use asks::Asks;
pub use flight::FlightGuard;
pub use id::SessionId;
pub use listing::Listed;
pub use opener::Opener;
pub use outbox::{Listener, SessionOutbox, Waiting};
pub use parties::{CallerParty, PartyGuard};
pub use record::Session;
pub use store::{SessionLimits, Sessions};
pub use streams::{EventId, OwnReader, Reader, Resumption, Writer};
