//! What is said of a server that is away.

use std::time::Instant;

use super::moment;
use super::port::{Phase, Snapshot, Upstream};
use crate::fault::{Code, Fault};

/// The fault of a call to a server that is known to be away; none while it is there, or nothing is known of it.
pub(super) fn fault(upstream: &dyn Upstream) -> Option<Fault> {
    let snapshot = upstream.watch().borrow().clone();
    if snapshot.phase == Phase::Connected && !snapshot.disabled {
        return None;
    }
    let now = Instant::now();
    let mut fault =
        Fault::new(Code::UpstreamUnavailable, sentence(upstream.name(), &snapshot, now));
    if let Some(reason) = &snapshot.reason {
        fault = fault.because(reason.to_string());
    }
    if let Some(next) = snapshot.next_attempt.filter(|_| !snapshot.disabled) {
        fault = fault.retry_after(next.saturating_duration_since(now));
    }
    Some(fault)
}

/// A fault of a call, in the words for the outage that it fell into where it did not reach the server.
pub(super) fn explained(upstream: &dyn Upstream, failed: Fault) -> Fault {
    if failed.code() != Code::UpstreamUnavailable {
        return failed;
    }
    match fault(upstream) {
        Some(fault) => fault.because(failed),
        None => failed,
    }
}

/// One sentence: which server, since when, and when it is tried again.
pub(super) fn sentence(name: &str, snapshot: &Snapshot, now: Instant) -> String {
    let since = moment::of(snapshot.since, now);
    let ago = now.saturating_duration_since(snapshot.since).as_secs();
    let what = if snapshot.disabled {
        "was taken out of service by its operator at"
    } else if snapshot.offering.is_none() {
        "has not been reached since"
    } else {
        "is away since"
    };
    format!("The server {name:?} {what} {since} ({ago} s ago); {}.", prospect(snapshot, now))
}

/// When the server is tried again, in words that end a sentence.
pub(super) fn prospect(snapshot: &Snapshot, now: Instant) -> String {
    if snapshot.disabled {
        return "it stays away until its operator puts it back".to_owned();
    }
    match snapshot.next_attempt {
        Some(next) => {
            let wait = next.saturating_duration_since(now);
            format!("the next attempt to reach it is in {} s", moment::seconds_until(wait))
        }
        None if snapshot.given_up => "no further attempt to reach it is due".to_owned(),
        None => "an attempt to reach it is under way".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::pipeline::port::Offering;

    fn snapshot(now: Instant) -> Snapshot {
        let since = now.checked_sub(Duration::from_secs(12)).unwrap_or(now);
        Snapshot {
            attempt: 3,
            next_attempt: Some(now + Duration::from_millis(3_200)),
            reason: Some("secret details".into()),
            offering: Some(Arc::new(Offering::default())),
            ..Snapshot::new(Phase::Reconnecting, since)
        }
    }

    #[test]
    fn the_sentence_names_server_time_and_prospect() {
        let now = Instant::now();
        let of = |snapshot: Snapshot| sentence("clock", &snapshot, now);
        let text = of(snapshot(now));
        assert!(text.starts_with("The server \"clock\" is away since 2"), "{text}");
        assert!(text.ends_with("Z (12 s ago); the next attempt to reach it is in 4 s."), "{text}");
        assert!(!text.contains("secret"));
        let trying = of(Snapshot { next_attempt: None, ..snapshot(now) });
        assert!(trying.ends_with("an attempt to reach it is under way."), "{trying}");
        for offering in [None, snapshot(now).offering] {
            let given_up = Snapshot { next_attempt: None, given_up: true, ..snapshot(now) };
            let given_up = of(Snapshot { phase: Phase::Disconnected, offering, ..given_up });
            assert!(given_up.ends_with("no further attempt to reach it is due."), "{given_up}");
        }
        let never = of(Snapshot { offering: None, ..snapshot(now) });
        assert!(never.contains("has not been reached since"), "{never}");
        let out = of(Snapshot { disabled: true, ..snapshot(now) });
        assert!(out.contains("taken out of service by its operator at"), "{out}");
        assert!(out.ends_with("until its operator puts it back."), "{out}");
    }
}
