//! Makes settings of what was written, and collects every problem that can be seen, one file per part.
//!
//! Reading order: [`whole`] goes through the parts; [`findings`] collects; [`listen`], [`limits`], [`plugins`],
//! [`connectors`], [`upstreams`] and [`target`] check one part each; [`clashes`] looks at names across upstreams; [`word`] knows
//! what a name may look like.

mod clashes;
mod connectors;
mod findings;
mod limits;
mod listen;
mod plugins;
mod target;
mod upstreams;
mod whole;
mod word;

#[cfg(test)]
mod tests;

pub(super) use whole::{Origin, check};
