//! What the operator can see: log, audit and metrics.
//!
//! Reading order: [`log`] starts the log, [`audit`] writes what operators did; [`metrics`] counts requests and faults,
//! [`live`] what is open now, [`exposition`] writes numbers as Prometheus reads them, [`plugins`] and [`upstreams`] those
//! of other rooms; [`ledger`] keeps counters growing over reloads.

pub mod audit;
pub mod exposition;
pub mod ledger;
pub mod live;
pub mod log;
pub mod metrics;
pub mod plugins;
pub mod upstreams;

pub use exposition::{Exposition, Kind};
pub use ledger::Ledger;
pub use live::{Held, Live};
pub use metrics::{Metrics, Outcome, Reload};
