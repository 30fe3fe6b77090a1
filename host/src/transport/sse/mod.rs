//! HTTP+SSE, the transport of revision 2024-11-05: `GET …/sse` opens a stream whose first event names the address to post
//! to, and everything for the client comes on that stream. It is a channel that goes both ways, as pipes are.
//!
//! Reading order: [`channels`] are the open ones; [`get`] opens one, [`post`] takes what a client says on it.

pub mod channels;
pub mod get;
pub mod post;

pub use channels::Channels;

/// Path of the stream, behind that of the connector.
pub const STREAM: &str = "/sse";
/// Path of the address to post to, behind that of the connector.
pub const MESSAGES: &str = "/messages";
