//! The audit that an operator configures: one JSON line for each call and for whatever else [`crate::telemetry::audit`]
//! names, in a file that is rotated, on standard output, or both (docs/decisions/0033).
//!
//! Reading order: [`ledger`] takes what happened and makes lines of it, `call` knows those of calls, `line` JSON, `time`
//! the clock, `redact` what of arguments may stand in them, `flood` how often refused credentials are told one by one;
//! `queue` holds lines until `writer`, a thread of its own, writes them; `file` opens, rotates and ends files, `copy` repeats
//! lines on standard output, `pour` gives bytes to what may not take them at once; `chain` ties lines together, and [`mod@verify`] says whether they still are.

mod call;
mod chain;
mod copy;
mod file;
mod flood;
mod ledger;
mod line;
mod pour;
mod queue;
mod redact;
mod time;
mod verify;
mod writer;

#[cfg(test)]
mod endurance;
#[cfg(test)]
mod tests;

pub use file::AuditFileError;
pub use ledger::{Counts, Ledger};
pub use verify::{Broken, Known, Verified, verify};
