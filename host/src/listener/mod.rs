//! Accepts connections, bounds them, and finds what a path names. Administrators come in through a listener of their own
//! ([`admin`]).

pub mod admin;
pub mod route;
pub mod serve;
mod taken;

pub use admin::AdminSocket;
pub use serve::{ListenerLimits, serve};
