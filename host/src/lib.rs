//! plugway: a proxy for the Model Context Protocol whose decisions are WebAssembly components.
//!
//! The rooms, in the order a request passes them (see `docs/request.md`):
//! listener -> transport -> session -> pipeline -> upstream, with `plugin` at the pipeline's side.

pub mod app;
pub mod catalogue;
pub mod cli;
pub mod config;
pub mod fault;
pub mod listener;
pub mod pipeline;
pub mod plugin;
pub mod protocol;
pub mod session;
pub mod state;
pub mod telemetry;
pub mod transport;
pub mod upstream;
