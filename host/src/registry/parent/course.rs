//! When to register again.

use std::time::Duration;

/// The wait after the first failure; doubles from then on.
pub const FIRST: Duration = Duration::from_secs(1);

/// How a registration went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The registry has it.
    Held,
    /// The registry has it, and does not serve it for this reason.
    HeldBack(String),
    /// The registry says no, in one sentence.
    Refused(String),
    /// The registry could not be asked, for this reason.
    Unreachable(String),
}

/// Knows how often it failed in a row.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    ttl: Duration,
    failures: u32,
}

impl Course {
    /// For leases of this time.
    pub fn new(ttl: Duration) -> Self {
        Self { ttl, failures: 0 }
    }

    /// The wait until the next request. A lease is renewed after a third of its time; a request that failed is made again
    /// after a second, then after twice as long, and at the latest when the lease would be renewed. `chance` shortens each by
    /// up to a quarter, so that many do not come in the same moment.
    pub fn next(&mut self, outcome: &Outcome, chance: u8) -> Duration {
        let third = self.ttl / 3;
        let full = match outcome {
            Outcome::Held => {
                self.failures = 0;
                third
            }
            // What keeps it back may be over soon.
            Outcome::HeldBack(_) | Outcome::Refused(_) | Outcome::Unreachable(_) => {
                let wait = FIRST.saturating_mul(1 << self.failures.min(16));
                self.failures = self.failures.saturating_add(1);
                wait.min(third)
            }
        };
        full.mul_f64(1.0 - f64::from(chance) / 1020.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewals_come_within_a_third_and_failures_are_backed_off() {
        let mut course = Course::new(Duration::from_mins(1));
        let mut next = |outcome: &Outcome, chance| course.next(outcome, chance).as_millis();
        let (held, lost) = (Outcome::Held, Outcome::Unreachable(String::new()));
        assert_eq!((next(&held, 0), next(&held, 255)), (20_000, 15_000));
        let waits: Vec<u128> = (0..7).map(|_| next(&lost, 0)).collect();
        assert_eq!(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
        assert_eq!(next(&held, 0), 20_000);
        assert_eq!(next(&Outcome::Refused(String::new()), 255), 750, "it begins anew");
        assert_eq!(next(&Outcome::HeldBack(String::new()), 0), 2_000, "it is looked at again soon");
        // So that a lease outlives two renewals that are lost.
        for chance in 0..=255 {
            assert!(next(&held, chance) * 3 <= 60_000);
        }
    }
}
