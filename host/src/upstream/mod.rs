//! The servers behind a connector: connections, sessions, child processes, catalogues and their life.
//!
//! An upstream keeps one session for each party that it serves. No capability is claimed that would let a server send
//! requests to a client (sampling, elicitation, roots) or hand out tasks: nothing carries such traffic yet. Legacy
//! servers' own event streams (`GET`) are not opened either.
//!
//! Reading order: [`settings`] and [`limits`] are what the operator says; [`mod@start`] makes an upstream; [`keeper`] is its
//! life, [`catalogue`] what is read, [`status`] what is published; [`http`] and [`stdio`] are the two transports;
//! [`slot`] and [`sessions`] hold what belongs to a party, [`era`] says how a request travels, [`rewrite`] what changes
//! in it; [`supervise`] is the small process around a child; [`failure`] holds the sentences.

mod authored;
mod backoff;
mod catalogue;
mod era;
mod failure;
mod greeting;
mod http;
mod keeper;
pub mod limits;
pub mod outside;
mod peek;
mod rewrite;
mod sessions;
pub mod settings;
mod slot;
mod start;
mod status;
mod stdio;
pub mod supervise;
#[cfg(test)]
mod testing;

pub use limits::Limits;
pub use settings::{Command, Settings, Sharing, Transport, Unusable};
pub use start::start;
