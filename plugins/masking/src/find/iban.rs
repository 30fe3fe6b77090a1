//! International bank account numbers (ISO 13616): the length of the country and the check digits, together or in groups of
//! four.

use super::Hit;
use super::bytes::Text;
use crate::kind::Kind;

/// Length of an IBAN by country, as SWIFT's registry lists them
/// (<https://www.swift.com/standards/data-standards/iban-international-bank-account-number>).
const COUNTRIES: &[(&[u8; 2], usize)] = &[
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BI", 27),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DJ", 27),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FK", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HN", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MN", 20),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NI", 28),
    (b"NL", 18),
    (b"NO", 15),
    (b"OM", 23),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"RU", 33),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"SO", 23),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
    (b"YE", 30),
];

/// `at` is the first check digit.
pub(super) fn at_digit(text: Text<'_>, at: usize) -> Option<Hit> {
    let start = at.checked_sub(2)?;
    let (first, second) = (text.at(start), text.at(start + 1));
    if !first.is_ascii_alphabetic()
        || !second.is_ascii_alphabetic()
        || !text.at(at + 1).is_ascii_digit()
    {
        return None;
    }
    let country = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
    let (_, length) = COUNTRIES.iter().find(|(known, _)| **known == country)?;
    if !text.begins_digits(start) {
        return None;
    }
    let mut number = Vec::with_capacity(*length);
    let mut end = start;
    while number.len() < *length {
        if number.len() % 4 == 0 && !number.is_empty() {
            end += text.separator(end);
        }
        let byte = text.at(end);
        if !byte.is_ascii_alphanumeric() {
            return None;
        }
        number.push(byte.to_ascii_uppercase());
        end += 1;
    }
    let is_iban =
        !text.at(end).is_ascii_alphanumeric() && text.at(end) != b'_' && has_check(&number);
    is_iban.then_some(Hit { start, end, kind: Kind::Iban })
}

/// The remainder of ISO 7064, with letters as numbers and the first four characters behind the rest.
fn has_check(number: &[u8]) -> bool {
    let (head, tail) = number.split_at(number.len().min(4));
    let remainder = tail.iter().chain(head).fold(0_u32, |sum, byte| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        _ => (sum * 100 + u32::from(byte.wrapping_sub(b'A')) + 10) % 97,
    });
    remainder == 1
}
