//! The official conformance suite against our fixture: directly, which is the baseline.

mod clients;
mod direct;
mod merged;
mod translated;
