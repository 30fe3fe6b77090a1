//! What clients see of an upstream: a pure function of what is known of it, the operator's rules and the clock.

use std::time::{Duration, Instant};

use super::port::{Phase, Snapshot};

/// The operator's rules for the time that an upstream is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    /// An outage that is shorter changes nothing in the lists.
    pub stale_for: Duration,
    /// Whether the lists show its entries even then.
    pub keep: bool,
}

impl Default for Absence {
    fn default() -> Self {
        Self { stale_for: Duration::from_secs(5), keep: false }
    }
}

/// What clients see of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Nothing: its catalogue was never read.
    Unknown,
    /// Its entries stand in the lists.
    Listed,
    /// Its entries have left the lists, keep their names, and answer calls with a sentence about the server.
    Away,
}

impl Presence {
    /// What clients see at a moment, and when that changes if nothing else happens.
    pub fn of(snapshot: &Snapshot, rules: Absence, now: Instant) -> (Self, Option<Instant>) {
        if snapshot.offering.is_none() {
            return (Self::Unknown, None);
        }
        if snapshot.disabled {
            return (Self::Away, None);
        }
        if snapshot.phase == Phase::Connected || rules.keep {
            return (Self::Listed, None);
        }
        // A moment too far off for the clock never comes.
        match snapshot.since.checked_add(rules.stale_for) {
            Some(leaves) if leaves <= now => (Self::Away, None),
            leaves => (Self::Listed, leaves),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::pipeline::port::Offering;

    const FAR: u64 = 100_000;

    #[derive(Clone, Copy, Debug)]
    struct Case {
        phase: Phase,
        offers: bool,
        disabled: bool,
        rules: Absence,
        /// Milliseconds since it is in its phase.
        past: u64,
    }

    fn case() -> impl Strategy<Value = Case> {
        let phase = prop_oneof![
            Just(Phase::Connected),
            Just(Phase::Reconnecting),
            Just(Phase::Disconnected)
        ];
        (phase, any::<bool>(), any::<bool>(), any::<bool>(), 0..FAR, 0..FAR).prop_map(
            |(phase, offers, disabled, keep, stale, past)| Case {
                phase,
                offers,
                disabled,
                rules: Absence { stale_for: Duration::from_millis(stale), keep },
                past,
            },
        )
    }

    impl Case {
        fn at(self, start: Instant) -> (Presence, Option<Instant>) {
            let snapshot = Snapshot {
                disabled: self.disabled,
                offering: self.offers.then(|| Arc::new(Offering::default())),
                ..Snapshot::new(self.phase, start)
            };
            Presence::of(&snapshot, self.rules, start + Duration::from_millis(self.past))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn entries_leave_exactly_when_an_outage_is_old_enough(case in case()) {
            let start = Instant::now();
            let (presence, next) = case.at(start);
            let outage = case.phase != Phase::Connected;
            let old = Duration::from_millis(case.past) >= case.rules.stale_for;
            let away = case.disabled || (outage && old && !case.rules.keep);
            let expected = match (case.offers, away) {
                (false, _) => Presence::Unknown,
                (true, true) => Presence::Away,
                (true, false) => Presence::Listed,
            };
            prop_assert_eq!(presence, expected);
            let leaves = presence == Presence::Listed && outage && !case.rules.keep;
            prop_assert_eq!(next, leaves.then(|| start + case.rules.stale_for));
        }

        #[test]
        fn nothing_changes_before_the_moment_that_is_given_and_then_it_does(case in case()) {
            let start = Instant::now();
            let (presence, next) = case.at(start);
            let at = |past: u64| Case { past, ..case }.at(start).0;
            match next {
                None => prop_assert_eq!(presence, at(FAR * 2)),
                Some(next) => {
                    let due = u64::try_from((next - start).as_millis()).unwrap();
                    prop_assert!(due > case.past, "the moment is ahead");
                    prop_assert_eq!(presence, at(due - 1));
                    prop_assert_eq!(Presence::Away, at(due));
                }
            }
        }

        #[test]
        fn without_a_new_snapshot_nobody_comes_back(case in case(), later in 0..FAR) {
            let start = Instant::now();
            let (presence, _) = case.at(start);
            let after = Case { past: case.past + later, ..case }.at(start).0;
            prop_assert!(presence != Presence::Away || after == Presence::Away);
        }
    }
}
