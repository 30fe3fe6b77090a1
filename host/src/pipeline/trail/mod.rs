//! What is remembered of a call for its line in the audit; nothing where there is no audit.
//!
//! Reading order: [`record`] is filled by the phases of the call; [`ending`] sees the answer through and hands the line
//! over, once, however the call ends; [`sniff`] tells results from errors while their bytes pass.

mod ending;
mod record;
mod sniff;

pub(super) use ending::Ending;
pub use record::Trail;
