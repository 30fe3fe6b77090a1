//! The composition root: the only place that builds things, and so the only one that names every room.
//!
//! Reading order: [`mod@serve`] is the life of the process; `plugins`, `upstreams` and `connectors` make what it serves out
//! of the settings; `chores` runs beside the requests; `metrics` puts together what the rooms counted.

mod chores;
mod connectors;
mod error;
mod metrics;
mod plugins;
mod serve;
mod upstreams;

pub use error::StartError;
pub use plugins::check;
pub use serve::serve;
