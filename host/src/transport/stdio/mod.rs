//! MCP over standard input and output, toward the one client that started this process.
//!
//! A line is a message (MCP, "stdio"). Everybody who writes into the pipe is one caller for the whole life of the
//! process: `initialize` opens the one session of the legacy era, and modern requests, which carry their context in
//! `_meta`, share one party, so that servers with state keep it for them. Nothing listens anywhere.
//!
//! Reading order: [`mod@serve`] reads lines until the end; [`client`] takes each message; [`answers`] turns answers into
//! lines; [`flights`] finds what a cancellation is about; [`output`] writes; [`start`] holds the first questions back
//! until the servers had time to start.

mod answers;
mod client;
mod flights;
mod output;
mod serve;
mod start;

pub use serve::{Place, serve};
