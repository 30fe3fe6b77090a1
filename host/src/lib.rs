//! plugway: a proxy for the Model Context Protocol whose decisions are WebAssembly components.
//!
//! The rooms, in the order a request passes them (see `docs/request.md`):
//! listener -> transport -> session -> pipeline -> upstream, with `auth` at the transport's side and `plugin` at the
//! pipeline's.

pub mod admin;
pub mod app;
pub mod audit;
pub mod auth;
pub mod catalogue;
pub mod chance;
pub mod cli;
pub mod config;
pub mod fault;
pub mod glob;
pub mod glyph;
pub mod hex;
pub mod listener;
pub mod outbound;
pub mod pins;
pub mod pipeline;
pub mod plugin;
pub mod protocol;
pub mod registry;
pub mod session;
pub mod state;
pub mod telemetry;
pub mod transport;
pub mod upstream;
