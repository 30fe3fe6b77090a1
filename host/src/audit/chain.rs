//! Lines that are tied together: each has a number, the hash of the one before it, and a hash over itself, so that a line
//! that is changed, taken out, put in or moved shows.
//!
//! `{..,"seq":7,"prev":"HASH","hash":"HASH"}`: the hash is taken over the bytes of the line before `,"hash":`. With a key it
//! is HMAC-SHA256, without one SHA-256, which whoever can write the file can make anew.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::line::{decimal, digits};

/// A hash.
pub(super) type Hash = [u8; 32];

const SEQ: &[u8] = b",\"seq\":";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b",\"hash\":\"";

/// How lines are hashed.
#[derive(Clone, Debug)]
pub(super) struct Hasher(Option<Hmac<Sha256>>);

impl Hasher {
    /// With a key of the operator, or without one. The key of the chain is made of the operator's, so that no digest of
    /// arguments is ever a hash of a line.
    pub(super) fn new(key: Option<&[u8]>) -> Self {
        Self(key.and_then(|key| derived(key, b"plugway audit chain")))
    }

    pub(super) fn hash(&self, bytes: &[u8]) -> Hash {
        match &self.0 {
            Some(keyed) => keyed.clone().chain_update(bytes).finalize().into_bytes().into(),
            None => Sha256::digest(bytes).into(),
        }
    }

    /// Whether it has a key.
    pub(super) fn is_keyed(&self) -> bool {
        self.0.is_some()
    }
}

/// What digests with a key that is made of the operator's for one purpose.
pub(super) fn derived(key: &[u8], purpose: &[u8]) -> Option<Hmac<Sha256>> {
    let own = Hmac::<Sha256>::new_from_slice(key).ok()?.chain_update(purpose).finalize();
    Hmac::new_from_slice(&own.into_bytes()).ok()
}

/// Where a chain has come to.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    hasher: Hasher,
    /// The number of the last line; 0 = there is none.
    pub(super) seq: u64,
    pub(super) last: Hash,
}

impl Chain {
    /// A chain with no line.
    pub(super) fn new(hasher: Hasher) -> Self {
        Self { hasher, seq: 0, last: [0; 32] }
    }

    /// Adds a line, which is a JSON object without its line end, as the next one to what is written.
    pub(super) fn seal(&mut self, line: &[u8], written: &mut Vec<u8>) {
        let begin = written.len();
        written.extend_from_slice(line.strip_suffix(b"}").unwrap_or(line));
        self.seq += 1;
        written.extend_from_slice(SEQ);
        decimal(written, self.seq);
        written.extend_from_slice(PREV);
        digits(written, &self.last);
        written.push(b'"');
        self.last = self.hasher.hash(written.get(begin..).unwrap_or_default());
        written.extend_from_slice(HASH);
        digits(written, &self.last);
        written.extend_from_slice(b"\"}\n");
    }
}

/// What a line says of its place, whether or not that is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tied<'a> {
    /// What the hash is over.
    pub(super) covered: &'a [u8],
    pub(super) seq: u64,
    pub(super) prev: Hash,
    pub(super) hash: Hash,
}

/// The place of a line, which comes without its line end; none where it is not one of a chain.
pub(super) fn tied(line: &[u8]) -> Option<Tied<'_>> {
    let (covered, hash) = ending(line.strip_suffix(b"}")?, HASH)?;
    let (rest, prev) = ending(covered, PREV)?;
    let at = rest.windows(SEQ.len()).rposition(|window| window == SEQ)?;
    let seq = std::str::from_utf8(rest.get(at + SEQ.len()..)?).ok()?;
    // No other spelling of a number is the same line.
    let plain = seq.bytes().all(|byte| byte.is_ascii_digit()) && !seq.starts_with('0');
    Some(Tied { covered, seq: seq.parse().ok().filter(|_| plain)?, prev, hash })
}

/// What stands before a hash at the end of a text, and the hash.
fn ending<'a>(text: &'a [u8], name: &[u8]) -> Option<(&'a [u8], Hash)> {
    let text = text.strip_suffix(b"\"")?;
    let (before, hash) = text.split_at_checked(text.len().checked_sub(64)?)?;
    Some((before.strip_suffix(name)?, unhex(hash)?))
}

/// The hash that these 64 digits are.
pub(super) fn unhex(digits: &[u8]) -> Option<Hash> {
    let mut bytes = [0; 32];
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != bytes.len() || !rest.is_empty() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_its_place() {
        for key in [None, Some(&b"key"[..])] {
            let mut chain = Chain::new(Hasher::new(key));
            let mut written = Vec::new();
            chain.seal(br#"{"a":1}"#, &mut written);
            chain.seal(br#"{"b":"x,\"seq\":9"}"#, &mut written);
            let lines: Vec<&[u8]> = written.split(|byte| *byte == b'\n').collect();
            let (one, two) = (tied(lines[0]).unwrap(), tied(lines[1]).unwrap());
            assert_eq!((one.seq, two.seq), (1, 2));
            assert_eq!((one.prev, two.prev), ([0; 32], one.hash));
            let hasher = Hasher::new(key);
            assert_eq!(hasher.hash(one.covered), one.hash);
            assert_eq!(two.hash, chain.last);
            let line: serde_json::Value = serde_json::from_slice(lines[1]).unwrap();
            assert_eq!(line["seq"], 2);
        }
        for text in ["", "{}", r#"{"seq":1,"prev":"00","hash":"00"}"#] {
            assert_eq!(tied(text.as_bytes()), None);
        }
    }
}
