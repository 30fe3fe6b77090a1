//! A server that answers by a recording, and keeps what it is sent.
//!
//! Reading order: [`recording`] is how exchanges are written down; [`server`] answers by them, whatever the transport;
//! [`http`] and [`stdio`] are the transports. The program is `replay-server`; [`Replayed`] is one that runs.

pub mod http;
mod recording;
mod server;
mod started;
pub mod stdio;

pub use self::{
    recording::{Exchange, Recording, Step},
    server::{Answer, Replay},
    started::Replayed,
};
