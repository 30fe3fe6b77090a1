//! Volume, and what it does to the memory of plugway. Each run takes its size as an argument: tests named `heavy_..` run a
//! short form, the programs `soak-..` (`cargo xtask soak NAME`) a long one, which leaves a report in `docs/soak`. What may
//! not be exceeded is the same for both, whatever the size.
//!
//! [`audit`]: calls at full load and their lines. [`results`]: large results stream through. [`sessions`]: sessions that nobody ends.

pub mod audit;
mod report;
pub mod results;
pub mod sessions;

pub use report::{MIB, Report};
