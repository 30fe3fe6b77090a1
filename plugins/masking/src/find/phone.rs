//! Telephone numbers: international ones (E.164) with `+` or `00`, those of North America, and those that begin with a 0, which
//! have to have separators: without, they are numbers like any other.

use super::Hit;
use super::bytes::Text;
use crate::kind::Kind;

/// Digits behind the `+` (E.164 allows 15; shorter ones are of no country that writes them so).
const DIGITS: std::ops::RangeInclusive<usize> = 8..=15;
/// Digits of a national number, with its 0.
const NATIONAL: std::ops::RangeInclusive<usize> = 9..=12;
/// Groups that are looked at.
const GROUPS_MAX: usize = 8;

/// A row of groups of digits.
struct Row {
    /// Digits of each group.
    groups: Vec<usize>,
    /// Where each ends.
    ends: Vec<usize>,
    /// What stands before the second group and each one after it.
    signs: Vec<u8>,
}

impl Row {
    /// The row that begins there. Separators are one byte, or a closing bracket and one byte.
    fn read(text: Text<'_>, start: usize) -> Self {
        let mut row = Self { groups: Vec::new(), ends: Vec::new(), signs: Vec::new() };
        let mut at = start;
        while row.groups.len() < GROUPS_MAX {
            let end = text.run(at, |byte| byte.is_ascii_digit());
            if end == at {
                row.signs.pop();
                break;
            }
            row.groups.push(end - at);
            row.ends.push(end);
            let mut next = end;
            if text.at(next) == b')' {
                next += 1;
            }
            let sign = text.at(next);
            let length = match sign {
                b'.' | b'/' => 1,
                _ => text.separator(next),
            };
            if length == 0 && next == end {
                break;
            }
            next += length;
            if text.at(next) == b'(' {
                next += 1;
            }
            row.signs.push(sign);
            at = next;
        }
        row
    }

    /// Where so many digits end, at the end of a group: the longest that fits.
    fn fitting(&self, range: &std::ops::RangeInclusive<usize>) -> Option<(usize, usize)> {
        let mut sum = 0;
        let mut found = None;
        for (place, (length, end)) in self.groups.iter().zip(&self.ends).enumerate() {
            sum += length;
            if range.contains(&sum) {
                found = Some((place, *end));
            }
        }
        found
    }

    /// Whether the groups up to this one have one sign between them.
    fn is_even(&self, last: usize) -> bool {
        let signs = self.signs.get(..last).unwrap_or_default();
        // `030/12 34 56`
        let signs = signs.strip_prefix(b"/").filter(|rest| !rest.is_empty()).unwrap_or(signs);
        signs.windows(2).all(|pair| pair.first() == pair.last())
    }
}

/// `+44 20 7946 0958`
pub(super) fn at_plus(text: Text<'_>, at: usize) -> Option<Hit> {
    let is_inside = matches!(text.before(at, 1), b'+' | b'/' | b'_') || !text.begins(at);
    if is_inside || !matches!(text.at(at + 1), b'1'..=b'9') {
        return None;
    }
    let (_, end) = Row::read(text, at + 1).fitting(&DIGITS)?;
    text.ends_number(end).then_some(Hit { start: at, end, kind: Kind::Phone })
}

/// `(555) 234-5678`
pub(super) fn at_bracket(text: Text<'_>, at: usize) -> Option<Hit> {
    let row = Row::read(text, at + 1);
    let is_area = text.at(row.ends.first().copied()?) == b')';
    let end = national(text, at + 1, &row)?;
    (is_area && text.begins(at)).then_some(Hit { start: at, end, kind: Kind::Phone })
}

/// `555-234-5678`, `020 7946 0958`, `0049 30 1234567`: `at` is the first digit.
pub(super) fn at_digit(text: Text<'_>, at: usize) -> Option<Hit> {
    let first = text.run(at, |byte| byte.is_ascii_digit()) - at;
    let before = text.before(at, 1);
    let is_inside =
        matches!(before, b'-' | b'.' | b'/') && text.before(at, 2).is_ascii_alphanumeric();
    if !(2..=6).contains(&first) || is_inside || !text.begins_number(at) {
        return None;
    }
    let row = Row::read(text, at);
    let end = if text.from(at).starts_with(b"00") && first > 2 {
        let (last, end) = row.fitting(&(DIGITS.start() + 2..=DIGITS.end() + 2))?;
        (last > 0 && text.ends_number(end)).then_some(end)?
    } else {
        national(text, at, &row)?
    };
    Some(Hit { start: at, end, kind: Kind::Phone })
}

/// Where a national number ends whose digits begin there.
fn national(text: Text<'_>, at: usize, row: &Row) -> Option<usize> {
    let begins = |place: usize| {
        text.at(
            row.ends.get(place).copied().unwrap_or(0) - row.groups.get(place).copied().unwrap_or(0)
        )
    };
    if let ([3, 3, 4, ..], [first, second, ..]) = (&*row.groups, &*row.signs) {
        // Area and exchange begin with neither 0 nor 1 (North American Numbering Plan).
        let are_codes = (b'2'..=b'9').contains(&begins(0)) && (b'2'..=b'9').contains(&begins(1));
        let is_area = text.at(row.ends.first().copied()?) == b')';
        let fits = matches!(second, b'-' | b'.') && (first == second || is_area);
        let end = row.ends.get(2).copied()?;
        if are_codes && fits && text.ends_number(end) {
            return Some(end);
        }
    }
    if text.at(at) != b'0' || !matches!(text.at(at + 1), b'1'..=b'9') {
        return None;
    }
    let (last, end) = row.fitting(&NATIONAL)?;
    let groups = row.groups.get(..=last)?;
    let dotted = row.signs.get(..last)?.contains(&b'.');
    let is_date = groups.starts_with(&[2, 2, 4]);
    let fits = last > 0
        && !is_date
        && groups.iter().all(|length| *length >= 2)
        && (!dotted || groups == [2, 2, 2, 2, 2])
        && row.is_even(last);
    (fits && text.ends_number(end)).then_some(end)
}
