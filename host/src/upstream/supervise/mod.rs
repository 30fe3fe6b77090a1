//! The small process between plugway and a child: nothing that the child starts outlives plugway, not even after
//! `kill -9`.
//!
//! plugway starts itself again with a hidden first argument. That process is the *subreaper* of everything below it:
//! orphans become its children instead of the system's, so it can find and end them all. It waits for the first of
//! three things: plugway ends, the child ends, or a signal asks it to stop. Then the child's process group gets SIGTERM,
//! and 2 s later everything that is left gets SIGKILL. Only who kills the supervisor itself with SIGKILL gets orphans.
//!
//! Reading order: [`mod@main`], then [`tree`], which finds and ends descendants.

mod main;
#[cfg(test)]
mod tests;
mod tree;

pub use main::{WORD, main};
