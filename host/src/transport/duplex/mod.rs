//! A client at the other end of a channel that goes both ways: pipes, or the stream and the posts of HTTP+SSE.
//!
//! One channel is one client: `initialize` opens its one session of the legacy era, and modern requests, which carry
//! their context in `_meta`, share one party where the caller is known, so that servers with state keep it for them.
//!
//! Reading order: [`client`] takes each message; [`serving`] serves requests and batches; [`answers`] sends what comes of
//! them; [`flights`] finds what a cancellation is about; [`output`] is the queue toward the client; [`start`] holds the
//! first questions back until the servers had time to start.

mod answers;
mod client;
mod flights;
mod output;
mod serving;
mod start;

pub(super) use client::{Client, Sender};
pub(super) use output::Output;
pub(super) use start::Start;
