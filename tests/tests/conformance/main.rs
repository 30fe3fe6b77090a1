//! The official conformance suite: against our fixture, which is the baseline; against plugway before it; against plugway
//! where the eras of its two sides differ; and as the server of a client behind which plugway is.
//!
//! Lists of exceptions name what does not pass. They shrink: what passes must be taken off.

mod clients;
mod direct;
mod merged;
mod translated;
