//! What servers say of what they offer stays what was seen or approved: definitions are digested, compared with
//! `plugway.lock`, and held back where they differ (docs/pins.md, docs/decisions/0032).
//!
//! Reading order: [`canonical`] is the text of which a digest is taken, [`unseen`] finds characters that nobody sees,
//! [`definition`] reads what a server lists; [`lock`] is what is kept, [`written`] its text, [`mod@file`] the only reader and
//! writer of that file, and [`owner`] whose it stays; [`sights`] is what this process saw waiting; [`ledger`] is the file as this process knows it; [`judge`] compares what a server offers with it, [`withheld`] takes out what is held back, and
//! [`pinned`] stands before an upstream so that nobody sees more of it. [`work`] and [`difference`] are for operators.

mod canonical;
mod definition;
mod difference;
mod file;
mod judge;
mod ledger;
mod lock;
mod owner;
mod pinned;
mod pretty;
mod seen;
mod sights;
#[cfg(test)]
mod tests;
mod unseen;
mod withheld;
mod work;
mod written;

pub use file::{Broken, LockFile};
pub use judge::{Mode, Subject};
pub use ledger::Ledger;
pub use lock::{Key, KeyText, Kind, Lock};
pub use pinned::Pinned;
pub use pretty::visible;
pub use work::{Approved, Chosen, Meant, approve, differences, is_somebody, list, meant, quoted};
