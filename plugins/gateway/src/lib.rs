//! The policy `gateway` of plugway: which tools, prompts, resources and functions a caller may use, how often, and when a
//! person is asked before.
//!
//! In reading order: [`gateway`] is the policy with its parts, and [`admit`] and [`visible`] are its two questions; [`called`]
//! is the call in hand; [`lists`] are `blocked_tools` and its kin, over the [`names`] of a thing, [`functions`] what they mean
//! for code and [`own`] what a connector offers of its own; [`limits`] count, and [`charges`] are one call's; [`confirm`] asks a person; [`rules`] are the
//! operator's ordered rules and [`facts`] what they look at; [`refusal`] says no;
//! [`understood`] says how the entries of lists are understood;
//! [`config`] is what operators write; [`component`] is the plugin.

pub mod gateway;

pub mod admit;
pub mod called;
pub mod charges;
pub mod config;
pub mod confirm;
pub mod facts;
pub mod functions;
pub mod limits;
pub mod lists;
pub mod names;
pub mod own;
pub mod refusal;
pub mod rules;
pub mod understood;
pub mod visible;

pub mod component;

#[cfg(test)]
mod tests;
