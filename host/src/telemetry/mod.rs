//! What the operator can see: logs and metrics.
//!
//! Reading order: [`log`] starts the log; [`metrics`] counts requests and faults, [`exposition`] writes numbers as
//! Prometheus reads them, [`plugins`] those of plugins.

pub mod exposition;
pub mod log;
pub mod metrics;
pub mod plugins;

pub use exposition::{Exposition, Kind};
pub use metrics::{Metrics, Outcome};
