//! A connector that registers itself with another plugway, so that it is served there.
//!
//! Reading order: [`course`] says when to register again, [`registrar`] does so until it ends, [`client`] speaks to the
//! registry; [`troubles`] is what `/ready` says while that does not succeed.

pub mod client;
pub mod course;
pub mod registrar;
pub mod troubles;

pub use client::Client;
pub use registrar::{Parent, Registrar};
pub use troubles::Troubles;
