//! Private keys in text (RFC 7468), as OpenSSH writes them, and as blocks of `OpenPGP`: everything from the first line to the last,
//! across lines, also where the ends of lines are written as `\n`. Of one that was cut off, what is there.

use memchr::memmem;

use super::Hit;
use super::bytes::{Text, is_base64};
use crate::kind::Kind;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const RULE: &[u8] = b"-----";
/// So many characters of Base64 in a row are part of a key.
const KEY_MIN: usize = 40;
/// Longest words between the rules of a first line.
const LABEL_MAX: usize = 64;

/// The last line that comes next, kept so that no part of a text is searched twice.
#[derive(Default)]
pub(super) struct Ends {
    /// Where the search began, and what it found.
    known: Option<(usize, Option<usize>)>,
}

impl Ends {
    fn after(&mut self, text: Text<'_>, at: usize) -> Option<usize> {
        match self.known {
            Some((from, None)) if from <= at => None,
            Some((from, Some(found))) if from <= at && at <= found => Some(found),
            _ => {
                let found = memmem::find(text.from(at), END).map(|step| at + step);
                self.known = Some((at, found));
                found
            }
        }
    }
}

/// `at` may be the first dash of a first line.
pub(super) fn at_dash(text: Text<'_>, at: usize, ends: &mut Ends) -> Option<Hit> {
    if !text.from(at).starts_with(BEGIN) {
        return None;
    }
    let (label, body) = label(text, at + BEGIN.len())?;
    if !label.ends_with(b"PRIVATE KEY") && !label.ends_with(b"PRIVATE KEY BLOCK") {
        return None;
    }
    let whole = ends.after(text, body).and_then(|last| {
        let (closing, end) = self::label(text, last + END.len())?;
        (closing == label).then_some(end)
    });
    let end = whole.unwrap_or_else(|| cut_off(text, body));
    Some(Hit { start: at, end, kind: Kind::PrivateKey })
}

/// Where one ends whose last line is missing: with the text where a key may stand in it, whatever stands before the key or
/// between its lines; else it is a word about keys.
fn cut_off(text: Text<'_>, body: usize) -> usize {
    let mut run = 0;
    let holds_key = text.from(body).iter().any(|byte| {
        run = if is_base64(*byte) { run + 1 } else { 0 };
        run >= KEY_MIN
    });
    if holds_key { text.0.len() } else { text.run(body, is_body) }
}

/// The words that begin there, and where the rule behind them ends.
fn label(text: Text<'_>, at: usize) -> Option<(&[u8], usize)> {
    let words = text.part(at, text.0.len().min(at + LABEL_MAX));
    let length = memmem::find(words, RULE)?;
    Some((words.get(..length)?, at + length + RULE.len()))
}

/// What stands between the lines: Base64, and the head of an encrypted one.
fn is_body(byte: u8) -> bool {
    is_base64(byte)
        || byte.is_ascii_whitespace()
        || matches!(byte, b'=' | b'\\' | b':' | b',' | b'-')
}
