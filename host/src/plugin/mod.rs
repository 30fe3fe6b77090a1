//! WebAssembly components that decide: how they are loaded, run, bounded, replaced and counted.
//!
//! Reading order: [`spec`] is an entry as the operator means it; [`runtime`] loads it: [`artifact`] reads the bytes,
//! [`cache`] and [`engine`] make code of them, [`inspect`] says what they are. [`slot`] holds what is loaded and swaps it;
//! [`seat`] is a plugin in its place in a connector, with its own configuration, instances, state, breaker and numbers:
//! one entry used in two connectors has two seats, so that neither can hurt the other. [`policy`] and [`router`] are the
//! pipeline's ports on a seat. [`imports`] is what the host does for guests.
//!
//! **A failing plugin loses an instance, never the host.** No guest runs without a deadline, a memory limit and a budget
//! of host calls; no text of a guest is trusted to be JSON, short or printable.

pub mod artifact;
mod ask;
pub mod breaker;
pub mod bundled;
pub mod cache;
mod compiled;
mod convert;
mod ctx;
pub mod engine;
pub mod error;
pub mod failure;
mod gates;
mod generation;
pub mod grants;
mod imports;
pub mod inspect;
pub mod lane;
pub mod limits;
mod place;
mod policy;
mod router;
pub mod runtime;
mod seat;
pub mod slot;
pub mod spec;
pub mod stats;
mod tags;
mod task;
mod waiting;
mod warm;
mod watch;

pub use compiled::Info;
pub use error::LoadError;
pub use inspect::Kind;
pub use runtime::{Runtime, RuntimeOptions, States};
pub use slot::Slot;
pub use spec::{Grants, Limits, OnError, PluginSpec, Source};
pub use stats::{BUCKETS_US, HookStats, PluginStats};

#[cfg(test)]
mod tests;
