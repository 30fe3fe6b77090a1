//! The servers behind a connector: connections, sessions, child processes, catalogues and their life.
//!
//! An upstream keeps one session for each party that it serves. No capability is claimed that would let a server send
//! requests to a client (sampling, elicitation, roots) or hand out tasks: nothing carries such traffic yet. What a
//! server says about changes of its lists ends here: its catalogue is read again, and clients hear of what really changed.
//!
//! Reading order: [`settings`] and [`limits`] are what the operator says; [`mod@start`] makes an upstream; [`keeper`] is its
//! life, [`vigil`] how it is watched over while it is connected, [`bell`] what makes them look; [`catalogue`] is what is
//! read, [`status`] what is published, [`tally`] what is counted; [`http`] and [`stdio`] are the two transports;
//! [`subscriptions`] stand around both; [`slot`], [`sessions`] and [`wishes`] hold what belongs to a party, [`renew`] tells
//! it to a session that was opened anew, [`era`] says how a request travels, [`rewrite`] what changes
//! in it; [`supervise`] is the small process around a child; [`failure`] holds the sentences.

mod authored;
mod backoff;
mod bell;
mod catalogue;
mod era;
mod failure;
mod greeting;
mod http;
mod keeper;
pub mod limits;
pub mod outside;
mod peek;
mod renew;
mod rewrite;
mod sessions;
pub mod settings;
mod slot;
mod start;
mod status;
mod stdio;
mod subscriptions;
#[cfg(unix)]
pub mod supervise;
mod tally;
#[cfg(test)]
mod testing;
mod vigil;
mod wishes;

pub use limits::Limits;
pub use settings::{Access, Asks, Command, Settings, Sharing, Transport, Unusable};
pub use start::start;
