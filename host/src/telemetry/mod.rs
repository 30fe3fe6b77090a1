//! What the operator can see: logs and metrics; and what must not be seen.
//!
//! Reading order: [`log`] starts the log; [`metrics`] counts requests and faults, [`exposition`] writes numbers as
//! Prometheus reads them, [`plugins`] those of plugins; [`secret`] is text that is not shown.

pub mod exposition;
pub mod log;
pub mod metrics;
pub mod plugins;
mod secret;

pub use exposition::{Exposition, Kind};
pub use metrics::{Metrics, Outcome};
pub use secret::Secret;
