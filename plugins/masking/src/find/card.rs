//! Numbers of payment cards (ISO/IEC 7812): the ranges and lengths of the issuers, the check digit of Luhn; together, or in
//! the groups that are printed on cards.

use super::Hit;
use super::bytes::Text;
use crate::kind::Kind;

/// Shortest and longest number.
const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;
/// The groups of four and of American Express and Diners Club.
const GROUPS: [&[usize]; 7] = [
    &[4, 4, 4, 4, 3],
    &[4, 4, 4, 4, 2],
    &[4, 4, 4, 4, 1],
    &[4, 4, 4, 4],
    &[4, 6, 5],
    &[4, 6, 4],
    &[4, 4, 4, 1],
];

/// Whether these digits are the number of a card.
pub(crate) fn is_card(digits: &[u8]) -> bool {
    LENGTHS.contains(&digits.len()) && is_issued(digits) && luhn(digits)
}

/// `at` is the first of some digits.
pub(super) fn at_digit(text: Text<'_>, at: usize) -> Option<Hit> {
    let end = text.run(at, |byte| byte.is_ascii_digit());
    let is_one = LENGTHS.contains(&(end - at));
    if !(is_one || end - at == 4) || !text.begins_digits(at) {
        return None;
    }
    if is_one {
        let is_card = text.ends_digits(end) && is_card(text.part(at, end));
        return is_card.then_some(Hit { start: at, end, kind: Kind::Card });
    }
    let separator = text.separator(end);
    let sign = text.at(end);
    if separator == 0 || is_inside(text, at, sign) {
        return None;
    }
    GROUPS.iter().find_map(|groups| {
        let (digits, end) = grouped(text, at, groups, sign)?;
        let fits = !goes_on(text, end, sign) && text.ends_digits(end) && is_card(&digits);
        fits.then_some(Hit { start: at, end, kind: Kind::Card })
    })
}

/// Whether groups that begin there are the middle of a longer row.
fn is_inside(text: Text<'_>, at: usize, sign: u8) -> bool {
    let before = text.before(at, 2);
    text.before(at, 1) == sign
        && (before.is_ascii_digit() || (sign == b'-' && before.is_ascii_alphabetic()))
}

/// Whether a longer row goes on there. Behind spaces the month may follow until which the card is good, and its code.
fn goes_on(text: Text<'_>, end: usize, sign: u8) -> bool {
    let next = end + text.separator(end);
    let behind = text.run(next, |byte| byte.is_ascii_digit());
    let is_group = text.at(end) == sign && behind > next;
    is_group
        && (sign == b'-'
            || (behind - next == 4
                && text.separator(behind) > 0
                && text.at(behind + 1).is_ascii_digit()))
}

/// The digits of groups of these lengths, with the same separator between all, and where they end.
fn grouped(text: Text<'_>, at: usize, groups: &[usize], sign: u8) -> Option<(Vec<u8>, usize)> {
    let mut digits = Vec::with_capacity(*LENGTHS.end());
    let mut end = at;
    for (place, length) in groups.iter().enumerate() {
        if place > 0 {
            let separator = text.separator(end);
            if separator == 0 || text.at(end) != sign {
                return None;
            }
            end += separator;
        }
        let group = text.part(end, end + length);
        if group.len() != *length || !group.iter().all(u8::is_ascii_digit) {
            return None;
        }
        digits.extend_from_slice(group);
        end += length;
    }
    (!text.at(end).is_ascii_digit()).then_some((digits, end))
}

/// Whether some issuer has numbers that begin like this and have this length, as the issuers' lists of ranges say: Visa,
/// Mastercard, American Express, Diners Club, Discover, JCB, `UnionPay`, Maestro, Mir.
fn is_issued(digits: &[u8]) -> bool {
    let first = |count: usize| {
        digits
            .iter()
            .take(count)
            .fold(0, |sum, digit| sum * 10 + u32::from(digit.wrapping_sub(b'0')))
    };
    let length = digits.len();
    match first(1) {
        4 => matches!(length, 13 | 16 | 19),
        2 => match first(4) {
            2200..=2204 => (16..=19).contains(&length),
            2221..=2720 => length == 16,
            _ => false,
        },
        3 => match first(2) {
            34 | 37 => length == 15,
            36 | 38 | 39 => length == 14,
            _ => match first(4) {
                3000..=3059 | 3095 => length == 14,
                3528..=3589 => (16..=19).contains(&length),
                _ => false,
            },
        },
        5 => match first(4) {
            5018 | 5020 | 5038 | 5893 => length >= 13,
            5100..=5599 => length == 16,
            _ => false,
        },
        6 => match first(4) {
            6011 | 6440..=6599 | 6200..=6299 => (16..=19).contains(&length),
            6304 | 6759 | 6761..=6763 => length >= 13,
            _ => false,
        },
        8 => first(2) == 81 && (16..=19).contains(&length),
        _ => false,
    }
}

/// The check digit (ISO/IEC 7812-1, annex B).
fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit.wrapping_sub(b'0'));
            match (place % 2, digit) {
                (0, digit) => digit,
                (_, 5..) => digit * 2 - 9,
                _ => digit * 2,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}
