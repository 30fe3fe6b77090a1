//! Moments in words: RFC 3339, in UTC, to the second.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The wall clock's time of a moment in the past.
pub(super) fn of(moment: Instant, now: Instant) -> String {
    let past = now.saturating_duration_since(moment);
    let wall = SystemTime::now().checked_sub(past).unwrap_or(UNIX_EPOCH);
    rfc3339(wall.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Whole seconds, a part of a second counted as one: for what is still to come.
pub(super) fn seconds_until(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

/// A moment so long after 1970-01-01.
pub fn rfc3339(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a day since 1970-01-01 in the Gregorian calendar, counted in years that begin in March.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_since_1970_are_dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_078_012_800, "2004-02-29T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (1_785_196_800, "2026-07-28T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn a_moment_ago_is_now_on_the_wall() {
        let now = Instant::now();
        let hour = now.checked_sub(Duration::from_hours(1)).unwrap_or(now);
        assert!(of(hour, now) < of(now, now));
        assert_eq!(seconds_until(Duration::from_millis(1_001)), 2);
        assert_eq!(seconds_until(Duration::from_secs(1)), 1);
    }
}
