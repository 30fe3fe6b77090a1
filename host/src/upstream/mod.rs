//! The servers behind a connector: connections, sessions, child processes, catalogues and their life.
//!
//! An upstream keeps one session for each party that it serves. A server is told of the client's capabilities as far as the
//! operator allows their use, and what it then asks reaches the client; nothing else does. What a server says about changes of
//! its lists ends here: its catalogue is read again, and clients hear of what really changed.
//!
//! Reading order: [`settings`] and [`limits`] are what the operator says; [`mod@start`] makes an upstream; [`keeper`] is its
//! life, [`vigil`] how it is watched over while it is connected, [`bell`] what makes them look; [`catalogue`] is what is
//! read, [`headed`] judges its tools, [`documents`] is what the router reads besides, [`variants`] are what
//! clients with other capabilities are offered, [`lent`] what is offered to one caller each, [`varying`] reads both, [`status`] what is published, [`said`] what the log says, [`tally`] what is counted; [`http`] and [`stdio`] are the two transports;
//! [`subscriptions`] stand around both; [`slot`], [`sessions`] and [`wishes`] hold what belongs to a party, [`renew`] tells
//! it to a session that was opened anew, [`era`] says how a request travels, [`rewrite`] what changes in it, [`permission`]
//! what a server may ask in return; [`supervise`] is the small process around a child; [`failure`] holds the sentences.

mod authored;
mod backoff;
mod batch;
mod bell;
mod catalogue;
mod documents;
mod era;
mod failure;
mod greeting;
mod headed;
mod http;
mod keeper;
mod lent;
pub mod limits;
pub mod outside;
mod peek;
mod permission;
mod renew;
mod rewrite;
mod said;
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
mod variants;
mod varying;
mod vigil;
mod wishes;

pub use limits::Limits;
pub use settings::{Access, Asks, Command, Settings, Sharing, Transport, Unusable};
pub use start::start;
