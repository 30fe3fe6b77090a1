//! The plan of workflows: which states there are, and which tools lead from one to another, over all servers.
//!
//! In reading order: [`graph`] is the plan, [`bridges`] says which ways between servers hold, [`answers`] are the four modes
//! of the tool, [`overview`] the first of them.

pub mod answers;
pub mod bridges;
pub mod graph;
mod overview;
