//! Tests of counting, quotas and expiry.

mod counting;
mod namespace;
