//! The default router of plugway: it gives every tool and prompt of every upstream a name that is a pure function of the
//! configuration, and leaves everything else as the servers wrote it.
//!
//! In reading order: [`shape`] walks over the upstreams, [`names`] finds the shown name, [`execution`] knows the servers
//! that carry their own name inside tool names, [`head`] finds a definition's name without reading the rest, [`hidden`]
//! finds characters that hide what a text says, [`tags`] reads
//! what a tool is tagged with, [`actions`] makes several tools of one, [`object`] is JSON of which the rest stays as it is,
//! [`ownership`] keeps callers apart at such servers, [`status`], [`unified`] and [`lazy`] are what the router offers of its own, [`config`] is what operators write, [`warning`] what
//! they should look at, [`component`] is the plugin.

pub mod shape;

pub mod actions;
pub mod config;
pub mod execution;
pub mod head;
pub mod hidden;
pub mod lazy;
pub mod names;
pub mod object;
pub mod ownership;
pub mod status;
pub mod tags;
pub mod unified;
pub mod warning;

pub mod component;

#[cfg(test)]
mod tests;
