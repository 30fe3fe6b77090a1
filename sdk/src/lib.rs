//! Write plugway plugins in Rust.
//!
//! A plugin is a type that implements [`Plugin`] and the hooks it wants; [`export!`] makes a component of it that exports
//! exactly the hooks it names and imports exactly what it uses.
//!
//! ```
//! use plugway_sdk::prelude::*;
//!
//! struct NoDeletes;
//!
//! impl Plugin for NoDeletes {
//!     type Config = NoConfig;
//!     fn configure(_: NoConfig) -> Result<Self, BadConfig> {
//!         Ok(Self)
//!     }
//! }
//!
//! impl Admission for NoDeletes {
//!     fn admit(&self) -> Result<Admit, Failure> {
//!         if call::name().contains("delete") {
//!             return Ok(Admit::Reject(Rejection::new("Deleting is not allowed here.")));
//!         }
//!         Ok(Admit::Pass)
//!     }
//! }
//!
//! plugway_sdk::export!(NoDeletes: admission);
//! # fn main() {}
//! ```
//!
//! `cargo build --release --target wasm32-wasip2` yields the component. On any other target the same crate compiles and
//! tests against a fake host, see [`testing`].
//!
//! In reading order: [`plugin`] is what every plugin has, [`hooks`] what it may decide, [`host`] what it may ask,
//! [`answer`] helpers for what it says.

pub mod answer;
pub mod config;
pub mod glob;
pub mod hooks;
pub mod host;
pub mod plugin;
pub mod prelude;
#[cfg(not(target_family = "wasm"))]
pub mod testing;

mod export;
#[doc(hidden)]
pub mod glue;
mod raw;

pub use config::{BadConfig, NoConfig};
pub use plugin::{Info, Plugin};
pub use raw::plugway::plugin::types::{Candidate, Failure, Health, Payload, Rejection};

/// For configurations, so that a plugin needs no other crate: derive with `#[serde(crate = "plugway_sdk::serde")]`.
pub use serde;
/// For arguments and results.
pub use serde_json;
/// For plugins that need a world of their own, beyond what [`export!`] does.
pub use wit_bindgen;
