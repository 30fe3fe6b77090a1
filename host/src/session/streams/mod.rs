//! Streams that survive their connection: what a client was sent, or was about to be sent, waits for it to come back and to
//! say how far it had read (`Last-Event-ID`; docs/decisions/0015).
//!
//! Reading order: [`event_id`] names a place in a stream; [`replay`] holds the last events of one; [`call`] is the stream
//! of an answer, [`own`] that of a session; [`table`] bounds the streams of one session.

pub mod call;
pub mod event_id;
pub mod own;
mod replay;
pub mod table;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use call::{Reader, Resumption, Writer};
pub use event_id::EventId;
pub use own::{OwnReader, OwnStream};
pub use table::Streams;

/// Events that one stream keeps: a client that is away for a minute misses some steps of progress, not hundreds.
const MAX_EVENTS: usize = 256;
/// Bytes that one stream keeps. A larger event is sent, but not kept.
const MAX_BYTES: usize = 1024 * 1024;
/// Events that may wait for a client that reads; a part of [`MAX_EVENTS`], so that what it had read last is there when it
/// loses its connection.
const MAX_UNREAD: usize = 64;
/// Bytes that may wait for a client that reads; a part of [`MAX_BYTES`].
const MAX_UNREAD_BYTES: usize = 128 * 1024;
/// How long a client that takes nothing is waited for. After that the stream goes on without it.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 5_000 });
/// Streams of calls that one session keeps.
const MAX_STREAMS: usize = 16;
/// Bytes that they hold together.
const MAX_SESSION_BYTES: usize = 4 * MAX_BYTES;
/// How long a stream is kept that has ended, in milliseconds.
const KEPT_MS: u64 = 60_000;
