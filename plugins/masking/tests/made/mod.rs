//! Samples from fixed seeds. Nothing here is a key of anybody: words of issuers are put together at run time, and the rest is
//! drawn by a generator.

mod keys;
mod negative;
mod personal;

pub(crate) use negative::negatives;
use plugway_masking::kind::Kind;

/// Samples of each kind.
const SAMPLES: usize = 300;

/// A text with something in it that is to be masked.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Samples of one kind, each in some surroundings.
pub(crate) fn positives(kind: Kind) -> Vec<Sample> {
    let mut chance =
        Chance(0x9E37_79B9_7F4A_7C15 ^ (kind as u64 + 1).wrapping_mul(0xD134_2543_DE82_EF95));
    (0..SAMPLES)
        .map(|turn| {
            let (before, secret, after) = if kind.is_personal() {
                personal::sample(kind, turn, &mut chance)
            } else {
                keys::sample(kind, turn, &mut chance)
            };
            let (left, right) = surroundings(kind, turn);
            let start = left.len() + before.len();
            let end = start + secret.len();
            Sample { text: [left, &before, &secret, &after, right].concat(), start, end }
        })
        .collect()
}

fn surroundings(kind: Kind, turn: usize) -> (&'static str, &'static str) {
    const ALL: [(&str, &str); 14] = [
        ("", ""),
        ("It is ", "."),
        ("value=", ""),
        ("{\"value\": \"", "\"}"),
        ("{\\\"value\\\": \\\"", "\\\"}"),
        ("first line\n", "\nlast line"),
        ("first line\\n", "\\nlast line"),
        ("<value>", "</value>"),
        ("- `", "` (do not share)"),
        ("Her Schlüssel: „", "“, bitte löschen"),
        ("它是", "。"),
        ("(", ")"),
        ("a, ", ", b"),
        ("https://example.com/?a=1&value=", "&b=2"),
    ];
    // An address is no place for spaces and lines.
    let count = if kind == Kind::PrivateKey { ALL.len() - 1 } else { ALL.len() };
    ALL[turn % count]
}

/// A small generator (xorshift64*), the same everywhere.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(drawn).unwrap() % bound
    }

    pub(crate) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    pub(crate) fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }

    pub(crate) fn digits(&mut self, length: usize) -> String {
        self.text(DIGITS, length)
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| u8::try_from(self.below(256)).unwrap()).collect()
    }
}

pub(crate) const DIGITS: &str = "0123456789";
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(crate) const HEX: &str = "0123456789abcdef";
pub(crate) const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(crate) const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
