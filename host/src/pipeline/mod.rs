//! The heart: what happens to a request between the session and the upstream. Names neither the HTTP library nor the
//! WebAssembly runtime; both sides are behind the traits in [`port`].
//!
//! Reading order: [`caller`], [`party`] and [`viewer`] say who asks, [`filters`] what it wants to see; [`call`] is the call in hand; [`port`] lists what the pipeline
//! needs from others; [`connector`] holds them together; [`exchange`] runs the phases, [`mod@inbound`] does so for what
//! servers send toward clients; `confirm` asks the person at the client where policies want that; `translate` stands between a client and a server of different eras; [`keeper`] keeps the
//! catalogue, [`held`] refuses what is held back, [`lazy`] keeps lists short, [`presence`] says what clients see of a server that is away, and `announce` tells them; `listen` is the stream
//! on which a client of the modern era hears of it; [`artifacts`] are links to files in answers, and where they lead;
//! `trail` is what the audit hears of a call; [`catalog`] is what `GET PATH/catalog` shows; [`code`] knows which servers run code.

mod absence;
mod admit;
mod announce;
mod announced;
pub mod answer;
pub mod artifacts;
pub mod call;
pub mod caller;
pub mod catalog;
pub mod code;
pub mod collect;
mod confirm;
pub mod connector;
pub mod dispatch;
mod exchange;
pub mod explain;
mod fallback;
mod feature;
pub mod filters;
mod forward;
mod handles;
pub mod handshake;
pub(crate) mod held;
pub mod inbound;
pub mod keeper;
pub mod lazy;
mod learned;
mod learning;
pub mod level;
mod listen;
mod lists;
mod local;
mod merge;
mod mirrored;
pub mod moment;
mod notice;
pub mod party;
pub mod port;
pub mod presence;
mod purse;
mod rejudged;
pub mod request;
mod review;
mod room;
mod routing;
pub mod seal;
mod shaping;
mod sighted;
pub mod status;
mod supposed;
mod tasks;
mod tell;
#[cfg(test)]
mod testing;
mod trail;
mod translate;
mod variants;
pub mod viewer;
pub mod views;

pub use announced::Announced;
pub use call::CallContext;
pub use caller::Caller;
pub use confirm::Confirmed;
pub use connector::{Connector, Served, Waiting};
pub use dispatch::dispatch;
pub use filters::Filters;
pub use handles::{Handles, Keeper};
pub use lazy::{Lazy, Loads};
pub use learned::Learned;
pub use level::Level;
pub use party::{NoOutbox, Outbox, Party, PartyId};
pub use presence::Absence;
pub use request::{Flight, Request, RequestId};
pub use tell::tell;
pub use trail::Trail;
pub(crate) use translate::declared::declared;
pub use viewer::{Shows, Viewer};
