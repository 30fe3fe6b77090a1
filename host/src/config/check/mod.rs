//! Makes settings of what was written, and collects every problem that can be seen, one file per part.
//!
//! Reading order: [`whole`] goes through the parts; [`findings`] collects; [`listen`], [`access`], [`audit`], [`limits`], [`plugins`]
//! and [`connectors`] check one part each; below them [`tokens`], [`grants`], [`server_info`], [`upstreams`], [`target`],
//! [`credential`], [`tags`], [`watch`], [`pin`] and [`registry`]; [`visibility`] is what the environment shows; [`clashes`] looks at names across upstreams; [`word`], [`header`], [`secret`] and [`date`] know
//! what one value may be.

mod access;
mod artifacts;
mod audit;
mod clashes;
mod connectors;
mod credential;
mod date;
mod discovery;
mod findings;
mod grants;
mod header;
mod limits;
mod listen;
mod pin;
mod plugins;
mod registry;
mod secret;
mod server_info;
mod tags;
mod target;
mod tokens;
mod upstreams;
mod visibility;
mod watch;
mod whole;
mod word;

#[cfg(test)]
mod tests;

pub(super) use findings::Findings;
pub(super) use header::belongs_to_plugway;
pub(super) use listen::PORT;
pub(super) use whole::{Origin, check};
pub use word::{LABELS, is_name, labels_fit};
