//! State that outlives plugin instances: adapters of the pipeline's port. In this process so far; a shared store comes
//! with several replicas.
//!
//! Reading order: [`memory`] hands out namespaces; [`namespace`] is one, with its quota; [`window`] and [`bucket`] are the
//! two ways of counting, as pure types; [`charges`] takes from several at once.

pub mod bucket;
mod charges;
pub mod memory;
pub mod namespace;
pub mod window;

pub use memory::Memory;
pub use namespace::{Namespace, Quota};

#[cfg(test)]
mod tests;
