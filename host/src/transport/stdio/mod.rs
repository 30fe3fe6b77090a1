//! MCP over standard input and output, toward the one client that started this process.
//!
//! A line is a message (MCP, "stdio"). Everybody who writes into the pipe is one caller for the whole life of the
//! process. Nothing listens anywhere.
//!
//! Reading order: [`mod@serve`] reads lines until the end, `duplex` takes each message, [`writer`] writes.

mod serve;
pub(super) mod writer;

pub use serve::{Place, serve};
