//! The heart: what happens to a request between the session and the upstream. Names neither the HTTP library nor the
//! WebAssembly runtime; both sides are behind the traits in [`port`].
//!
//! Reading order: [`caller`] and [`party`] say who asks; [`call`] is the call in hand; [`port`] lists what the pipeline
//! needs from others; [`connector`] holds them together; [`exchange`] runs the phases.

mod admit;
pub mod answer;
pub mod call;
pub mod caller;
pub mod collect;
pub mod connector;
pub mod dispatch;
mod exchange;
mod fallback;
pub mod handshake;
pub mod keeper;
mod local;
mod merge;
pub mod party;
pub mod port;
pub mod request;
mod review;
pub mod views;

pub use call::CallContext;
pub use caller::Caller;
pub use connector::{Connector, Served};
pub use dispatch::dispatch;
pub use party::{NoOutbox, Outbox, Party, PartyId};
pub use request::{Flight, Request, RequestId};
