//! Three small MCP servers, written with the official Rust SDK, that `cargo xtask try` shows and the end-to-end
//! tests put behind plugway.
//!
//! - [`clock`]: over Streamable HTTP (`demo-clock`); counts per MCP session, so that mixed-up sessions show.
//! - [`notes`]: over stdio (`demo-notes`); keeps notes per process, so that shared children show.
//! - [`board`]: over either (`demo-board`); notes are resources that change, so that subscriptions show.
//! - [`http`]: serves a handler at `/mcp` and its counters at `/stats`.

pub mod board;
pub mod clock;
pub mod http;
pub mod notes;
pub mod stats;
