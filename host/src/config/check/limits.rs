//! Limits of the server.

use std::time::Duration;

use super::findings::Findings;
use crate::config::file::{ServerLimits, Size, Span};
use crate::config::key::KeyPath;
use crate::config::settings::Limits;

/// Fills in the defaults and refuses what cannot work.
pub(super) fn check(written: &ServerLimits, key: &KeyPath, findings: &mut Findings) -> Limits {
    let default = Limits::default();
    let mut bounds = Bounds { key, findings };
    Limits {
        max_body: bounds.size("max_body", written.max_body, default.max_body),
        review_max: bounds.size("review_max", written.review_max, default.review_max),
        max_connections: bounds.count(
            "max_connections",
            written.max_connections,
            default.max_connections,
        ),
        max_sessions: bounds.count("max_sessions", written.max_sessions, default.max_sessions),
        session_idle: bounds.span("session_idle", written.session_idle, default.session_idle),
        header_timeout: bounds.span(
            "header_timeout",
            written.header_timeout,
            default.header_timeout,
        ),
        body_timeout: bounds.span("body_timeout", written.body_timeout, default.body_timeout),
        shutdown_grace: bounds.span(
            "shutdown_grace",
            written.shutdown_grace,
            default.shutdown_grace,
        ),
    }
}

/// Takes values between bounds, and notes the others.
pub(super) struct Bounds<'a> {
    pub(super) key: &'a KeyPath,
    pub(super) findings: &'a mut Findings,
}

impl Bounds<'_> {
    /// A size from 1 KiB to 1 GiB.
    pub(super) fn size(&mut self, key: &str, written: Option<Size>, default: usize) -> usize {
        let value = written.map_or(default, |size| size.0);
        self.within(key, (1 << 10..=1 << 30).contains(&value), "from 1KiB to 1GiB");
        value
    }

    /// A number from 1 to a million.
    pub(super) fn count(&mut self, key: &str, written: Option<u32>, default: usize) -> usize {
        let value = written.and_then(|count| usize::try_from(count).ok()).unwrap_or(default);
        self.within(key, (1..=1_000_000).contains(&value), "from 1 to 1000000");
        value
    }

    /// A duration from 10 ms to a day.
    pub(super) fn span(&mut self, key: &str, written: Option<Span>, default: Duration) -> Duration {
        let value = written.map_or(default, |span| span.0);
        let bounds = Duration::from_millis(10)..=Duration::from_hours(24);
        self.within(key, bounds.contains(&value), "from 10ms to 24h");
        value
    }

    /// A number between bounds that the caller names.
    pub(super) fn within(&mut self, key: &str, fits: bool, bounds: &str) {
        if !fits {
            let hint = "leave the key out for the default";
            self.findings.problem(&self.key.key(key), format!("must be {bounds}"), hint);
        }
    }
}
