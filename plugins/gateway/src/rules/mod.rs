//! Ordered rules: the first one whose conditions all hold decides.
//!
//! Reading order: [`facts`] is what a rule may look at, [`verdict`] what it may decide. [`list`] asks the rules in order;
//! [`when`] joins conditions to three-valued truth, since a list of tools is judged before any arguments are known.
//! [`value`] with [`reading`], [`time`], [`names`], [`hints`] are the conditions; [`config`] and [`place`] read what operators write,
//! and [`write`](mod@write) makes rules of it.

pub mod config;
pub mod facts;
pub mod globs;
pub mod list;
pub mod verdict;

mod hints;
mod names;
mod place;
mod reading;
mod time;
mod value;
mod when;
mod write;

#[cfg(test)]
mod tests;

pub use config::RulesConfig;
pub use facts::Facts;
pub use globs::tool_globs;
pub use list::Rules;
pub use verdict::{Act, LimitKey, Outlook, Verdict};
