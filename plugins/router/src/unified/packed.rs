//! Which documents hold a word, and how often, as a short text: it travels in the document beside a shape, where numbers in
//! JSON would take three times the room.

use serde::{Deserialize, Serialize};

/// Values of one digit without the mark that another one follows.
const BASE: u32 = 32;

/// Pairs of document and count, by rising document.
///
/// A number is written in digits to the base 32, the lowest first; each but the last carries a mark. Digits are printable
/// ASCII that JSON does not escape. Documents are written as the distance from the one before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Packed(String);

impl Packed {
    /// Adds a pair. `last` is the document that was added before, 0 at the beginning.
    pub fn push(&mut self, last: u32, document: u32, count: u32) {
        self.number(document.saturating_sub(last));
        self.number(count);
    }

    fn number(&mut self, mut number: u32) {
        while number >= BASE {
            self.0.push(digit(number % BASE + BASE));
            number /= BASE;
        }
        self.0.push(digit(number));
    }

    /// The pairs, in their order. A text that none of this made ends where it makes no sense.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut bytes = self.0.bytes();
        let mut document = 0_u32;
        std::iter::from_fn(move || {
            document = document.checked_add(read(&mut bytes)?)?;
            Some((document, read(&mut bytes)?))
        })
    }
}

fn read(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let (mut number, mut weight) = (0_u32, 1_u32);
    loop {
        let value = value(bytes.next()?)?;
        number = number.checked_add((value % BASE).checked_mul(weight)?)?;
        if value < BASE {
            return Some(number);
        }
        weight = weight.checked_mul(BASE)?;
    }
}

/// 64 values: `#` to `[` and `]` to `c`, so neither a quote nor a backslash.
fn digit(value: u32) -> char {
    let code = if value < 57 { 35 + value } else { 36 + value };
    char::from_u32(code).unwrap_or('#')
}

fn value(byte: u8) -> Option<u32> {
    match u32::from(byte) {
        code @ 35..=91 => Some(code - 35),
        code @ 93..=99 => Some(code - 36),
        _ => None,
    }
}
