//! Tests of counting, quotas and expiry.

mod charges;
mod counting;
mod namespace;
