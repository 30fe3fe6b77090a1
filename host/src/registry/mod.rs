//! Servers that register themselves behind a connector, each for a time: leases. And the other side of it: a connector
//! that registers itself with another plugway.
//!
//! Reading order: [`lease`] is what is known of one; [`request`] reads what a server sends; [`rules`] says what the operator
//! allows; [`book`] holds the leases, those of one connector in a `shelf`; [`names`] those names that belong to somebody although nobody leases them now;
//! [`desk`] answers requests, [`leaver`] reads which server it is that leaves, [`mod@lapse`] ends leases whose time is over. [`mod@join`] makes settings of a configuration and
//! its leases, which `app` puts in place as it does a changed file (docs/decisions/0024); [`replica`] compares the tools of two
//! servers that are to be one. [`parent`] is the other side.

pub mod book;
pub mod desk;
pub mod join;
pub mod lapse;
pub mod lease;
pub mod leaver;
pub mod names;
pub mod parent;
pub mod replica;
pub mod request;
pub mod rules;
mod shelf;
#[cfg(test)]
mod tests;

pub use book::{Book, Counts};
pub use desk::Desk;
pub use join::{Joined, join};
pub use lapse::lapse;
pub use lease::{Lease, Trial, Verdict};
pub use replica::same_tools;
pub use rules::Rules;
pub use shelf::Done;
