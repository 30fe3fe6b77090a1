//! The official conformance suite: run against a URL or a client, and graded on the counts of its checks.
//!
//! A scenario in which nothing was checked looks like one that passed, so ticks and exit codes are not looked at: what a
//! scenario must show is written down in [`baseline`], as the number of checks that succeed when the suite talks to our
//! fixture directly.

pub mod baseline;
mod grade;
mod report;
mod suite;

pub use self::{
    grade::{Exception, grade},
    report::{Outcome, Report},
    suite::{Revision, Suite},
};
