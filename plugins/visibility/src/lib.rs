//! The visibility plugin of plugway: lists of names and tags say what clients see, and clients may see less by saying so in
//! the query or the headers of a request.
//!
//! In reading order: [`lists`] is what is enabled and disabled, [`config`] what operators write, [`asked`] what a request
//! asks for, [`judge`] looks at one thing, [`mod@code`] at code that calls functions, [`component`] is the plugin.

pub mod lists;

pub mod asked;
pub mod code;
pub mod config;
pub mod judge;

pub mod component;

#[cfg(test)]
mod tests;
