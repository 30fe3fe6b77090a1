//! How an upstream is watched, and what clients see while it is away.

use std::time::Duration;

use super::findings::Findings;
use super::limits::Bounds;
use crate::config::file::{Attempts, Span, UnavailableWord, Upstream};
use crate::config::key::KeyPath;
use crate::config::settings::{Absence, Watch};

/// Fills in the defaults and refuses what cannot work.
pub(super) fn check(upstream: &Upstream, key: &KeyPath, findings: &mut Findings) -> Watch {
    let default = Watch::default();
    let mut bounds = Bounds { key, findings };
    let interval =
        bounds.span("health_check_interval", upstream.health_check_interval, default.interval);
    let timeout =
        bounds.span("health_check_timeout", upstream.health_check_timeout, default.timeout);
    let down_after = upstream.unhealthy_after.unwrap_or(default.down_after);
    bounds.within("unhealthy_after", (1..=1_000).contains(&down_after), "from 1 to 1000");
    let up_after = upstream.healthy_after.unwrap_or(default.up_after);
    bounds.within("healthy_after", (1..=1_000).contains(&up_after), "from 1 to 1000");
    let refresh = bounds.span("refresh", upstream.refresh, default.refresh);

    let (written, key) = (&upstream.reconnect, key.key("reconnect"));
    let mut bounds = Bounds { key: &key, findings };
    let retry_initial = bounds.span("initial", written.initial, default.retry_initial);
    // A longer first wait than the longest one by default is meant to be that long.
    let longest = default.retry_max.max(retry_initial);
    let retry_max = bounds.span("max", written.max, longest);
    if retry_max < retry_initial {
        findings.problem(&key.key("max"), "is shorter than `initial`", "make it longer");
    }
    let attempts = match written.attempts {
        None | Some(Attempts::Unlimited) => None,
        Some(Attempts::Number(number)) => Some(number),
    };
    Watch { interval, timeout, down_after, up_after, retry_initial, retry_max, attempts, refresh }
}

/// What clients see while it is away.
pub(super) fn check_absence(
    upstream: &Upstream,
    key: &KeyPath,
    findings: &mut Findings,
) -> Absence {
    let default = Absence::default();
    let stale_for = upstream.stale_for.map_or(default.stale_for, |Span(span)| span);
    let fits = stale_for <= Duration::from_hours(24);
    Bounds { key, findings }.within("stale_for", fits, "at most 24h");
    Absence { stale_for, keep: upstream.unavailable == Some(UnavailableWord::Keep) }
}
