//! Moments as RFC 3339 writes them, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds of a day.
const DAY: u64 = 86_400;

/// The number of the day since 1970.
pub(super) fn day(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY
}

/// `2026-07-28T09:30:00.123456Z`; what is before 1970 is 1970.
pub(super) fn write(buffer: &mut Vec<u8>, at: SystemTime) {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, micros) = (since.as_secs(), u64::from(since.subsec_micros()));
    let (year, month, date) = civil(seconds / DAY);
    let of_day = seconds % DAY;
    padded(buffer, year, 4);
    for (mark, number) in [
        (b'-', month),
        (b'-', date),
        (b'T', of_day / 3_600),
        (b':', of_day / 60 % 60),
        (b':', of_day % 60),
    ] {
        buffer.push(mark);
        padded(buffer, number, 2);
    }
    buffer.push(b'.');
    padded(buffer, micros, 6);
    buffer.push(b'Z');
}

fn padded(buffer: &mut Vec<u8>, number: u64, width: u32) {
    for place in (0..width).rev() {
        let digit = number / 10_u64.pow(place) % 10;
        buffer.push(b'0' + u8::try_from(digit).unwrap_or_default());
    }
}

/// Year, month and day of the day with this number since 1970: years begin in March here, so that the odd day comes last
/// (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    (year, month, date)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_written_as_everybody_reads_them() {
        for (seconds, micros, expected) in [
            (0, 0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.000001Z"),
            (1_709_251_199, 999_999, "2024-02-29T23:59:59.999999Z"),
            (1_785_231_000, 123_456, "2026-07-28T09:30:00.123456Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000000Z"),
        ] {
            let mut buffer = Vec::new();
            write(&mut buffer, UNIX_EPOCH + Duration::new(seconds, micros * 1_000));
            assert_eq!(String::from_utf8(buffer).unwrap(), expected);
        }
    }
}
