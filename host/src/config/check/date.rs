//! Dates of RFC 3339, such as `2027-01-31T12:00:00Z`: all that a configuration needs of a calendar.

/// The last second that a date can have: the end of the year 9999.
pub(super) const LAST: u64 = 253_402_300_799;

/// Seconds since the beginning of 1970; none for what is no date, and for earlier dates. Fractions are cut.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (date, rest) = text.split_at_checked(10)?;
    let time = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = time.split_at_checked(8)?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let fits = (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour <= 23
        && minute <= 59
        && second <= 60;
    fits.then_some(())?;
    let local = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    u64::try_from(local - offset(without_fraction(rest)?)?).ok()
}

/// Three numbers of so many digits each.
fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(between);
    let mut numbers = [0; 3];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        *number = plain(parts.next()?, digits)?;
    }
    parts.next().is_none().then_some(numbers)
}

fn plain(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(())?;
    text.parse().ok()
}

/// What follows a fraction, if there is one.
fn without_fraction(text: &str) -> Option<&str> {
    let Some(fraction) = text.strip_prefix('.') else { return Some(text) };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then_some(())?;
    fraction.get(digits..)
}

/// Seconds that local time is before the one of Greenwich: `Z`, `+02:00`, `-05:30`.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes) = (plain(hours, 2)?, plain(minutes, 2)?);
    (hours <= 23 && minutes <= 59).then(|| sign * (hours * 3_600 + minutes * 60))
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the Gregorian calendar, counted in years that begin in March, so that the leap day is the last one.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{LAST, days_of, days_since_1970, seconds};

    #[test]
    fn days_follow_each_other_for_ten_thousand_years() {
        let mut expected = days_since_1970(1, 1, 1);
        for year in 1..=9999 {
            for month in 1..=12 {
                assert_eq!(days_since_1970(year, month, 1), expected, "{year}-{month}");
                expected += days_of(year, month);
            }
        }
        assert_eq!(days_since_1970(1970, 1, 1), 0);
    }

    #[test]
    fn dates_are_read_and_nothing_else() {
        for (text, wanted) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-02T00:00:01z", Some(86_401)),
            ("2000-02-29T12:00:00Z", Some(951_825_600)),
            ("2026-07-28T00:00:00Z", Some(1_785_196_800)),
            ("2026-07-28 02:00:00.25+02:00", Some(1_785_196_800)),
            ("2026-07-27T18:30:00-05:30", Some(1_785_196_800)),
            ("9999-12-31T23:59:59Z", Some(LAST)),
            ("1969-12-31T23:59:59Z", None),
            ("2026-02-29T00:00:00Z", None),
            ("2100-02-29T00:00:00Z", None),
            ("2026-13-01T00:00:00Z", None),
            ("2026-04-31T00:00:00Z", None),
            ("2026-01-01T24:00:00Z", None),
            ("2026-01-01T00:00:00", None),
            ("2026-01-01T00:00:00.Z", None),
            ("2026-01-01T00:00:00+0200", None),
            ("2026-01-01T00:00:00Z ", None),
            ("2026-01-01", None),
            ("+026-01-01T00:00:00Z", None),
            ("2026-é1-01T00:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(seconds(text), wanted, "{text}");
        }
    }
}
