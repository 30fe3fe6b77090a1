//! Accepts connections, bounds them, and finds what a path names.

pub mod route;
pub mod serve;

pub use serve::{ListenerLimits, serve};
