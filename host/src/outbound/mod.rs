//! The one way out: everything that plugway dials over TCP is dialled here.
//!
//! A name is resolved once, every address is judged, and exactly a judged address is dialled, so that nobody can change
//! the answer in between. Redirects are never followed.
//!
//! Reading order: [`address`] holds the rules; [`own`] knows where plugway itself listens; [`dialer`] resolves, judges
//! and connects; [`client`] speaks HTTP over it; [`fetcher`] is the client for plugins, which reaches granted origins only.

pub mod address;
pub mod client;
pub mod dialer;
pub mod fetcher;
pub mod own;
#[cfg(test)]
mod tests;

pub use address::{Reach, Refusal};
pub use client::{Client, NoCertificates, chain, refusal};
pub use dialer::{DialError, Dialer};
pub use fetcher::{FetchError, Fetched, Fetcher, Origin};
pub use own::{Listed, OwnListeners};
