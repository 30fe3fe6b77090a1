//! MCP toward clients, in both eras: Streamable HTTP, and standard input and output.
//!
//! Reading order: [`site`] is what is served; `visitor` says who asks; [`post`] takes messages, [`legacy`] and [`modern`]
//! know how each era finds its context, [`batch`] is of 2025-03-26 only; [`get`] and [`delete`] are the rest of a legacy
//! session, whose streams `resume` keeps beyond their connections; [`catalog`] is of neither era.
//! [`mod@stdio`] serves one client over pipes, [`sse`] clients of the first revision; for both `duplex` knows the channel. [`guard`], [`headers`] and [`body`] check what comes in;
//! [`artifacts`] are files of servers; `handover` turns what servers send into what a client gets; [`reply`] alone turns answers and faults into HTTP, [`plain`]
//! what is no MCP; [`annex`] is what rooms above this one serve beside it.

pub mod annex;
pub mod artifacts;
pub mod batch;
pub mod body;
pub mod catalog;
pub mod delete;
mod duplex;
mod form;
pub mod get;
pub mod guard;
mod handover;
pub mod headers;
pub mod health;
pub mod legacy;
pub mod modern;
pub mod plain;
pub mod post;
pub mod reply;
mod resume;
pub mod site;
pub mod sse;
pub mod stdio;
pub mod stream;
mod visitor;

pub use reply::{Reply, ReplyBody};
pub use site::{Bounds, Site};
