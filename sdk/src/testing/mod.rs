//! A fake host, to test plugins natively.
//!
//! ```
//! # use plugway_sdk::prelude::*;
//! # struct Greet;
//! # impl Plugin for Greet { type Config = NoConfig; fn configure(_: NoConfig) -> Result<Self, BadConfig> { Ok(Self) } }
//! # impl Admission for Greet { fn admit(&self) -> Result<Admit, Failure> {
//! #     log::info(&caller::display()); Ok(if call::name() == "rm" { Admit::refuse("no") } else { Admit::Pass }) } }
//! use plugway_sdk::testing::{Host, plugin};
//!
//! let policy: Greet = plugin("{}").unwrap();
//! let host = Host::new();
//! host.caller("alice").call("tools/call", "ls");
//! assert_eq!(host.run(|| policy.admit()), Ok(Admit::Pass));
//! host.call("tools/call", "rm");
//! assert_eq!(host.run(|| policy.admit()), Ok(Admit::refuse("no")));
//! assert_eq!(host.logs()[0].message, "alice");
//! ```

pub(crate) mod fake;
mod host;
mod store;
mod world;

pub use host::Host;
pub use world::{Caller, Line};

use crate::config::{self, BadConfig};
use crate::plugin::Plugin;

/// A plugin made from a configuration as the host would hand it over.
pub fn plugin<P: Plugin>(config: &str) -> Result<P, BadConfig> {
    P::configure(config::parse(config)?)
}
