//! The wire format of MCP over borrowed bytes: no IO, no tokio, nothing re-encoded that does not change.
//!
//! Reading order: [`scan`] walks JSON text, [`message`] finds the few fields that a proxy interprets and refuses
//! what two parsers could read differently, [`edit`] replaces spans, [`merge`] patches objects, [`union`]
//! unites them, [`document`] checks what a plugin reads; [`id`], [`method`], [`feature`], [`version`] and [`header`] are
//! vocabulary; [`annotations`] and [`mirrored`] are about arguments that travel in headers, too;
//! [`sse`] and [`lines`] frame messages in a stream; [`subscription`] says which one a notification belongs to.

pub mod annotations;
pub mod document;
pub mod edit;
pub mod feature;
pub mod header;
pub mod id;
mod keys;
pub mod lines;
pub mod merge;
pub mod message;
pub mod method;
pub mod mirrored;
pub mod scan;
pub mod sse;
pub mod subscription;
pub mod union;
pub mod version;

pub use document::Document;
pub use edit::splice;
pub use id::Id;
pub use message::{Field, Kind, Malformed, Message};
pub use method::Method;
pub use mirrored::Mirrored;
pub use scan::Span;
pub use version::{Era, Revision};
