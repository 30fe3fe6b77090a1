//! Sessions of the legacy era: what a client and plugway remember of each other between requests.
//!
//! Reading order: [`id`] is the opaque name; [`record`] what is remembered; [`flight`] a request in flight within it;
//! [`outbox`] what waits for the client's stream; [`store`] finds, bounds and expires sessions.

pub mod flight;
pub mod id;
pub mod outbox;
pub mod record;
pub mod store;
#[cfg(test)]
mod tests;

pub use flight::FlightGuard;
pub use id::SessionId;
pub use outbox::{Listener, SessionOutbox};
pub use record::Session;
pub use store::{SessionLimits, Sessions};
