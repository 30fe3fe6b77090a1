//! A whole JSON document that a plugin reads: the arguments of a call, or an answer.

use super::keys::{Unique, beginning};
use super::message::string;
use super::scan::{ScanError, Scanner, Span, items, members};

/// JSON text without duplicate keys at any depth, so that a plugin and the upstream read the same thing. Nothing is
/// built from the text: what a plugin reads is the very text of the value, with all digits of its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document(Box<str>);

/// Why a text cannot be read the same way by everybody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ambiguous {
    /// Not JSON, or nested too deep.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// Two members of one object have the same name.
    #[error("the key {key:?} stands twice in one object")]
    Duplicate {
        /// The beginning of the key, unescaped.
        key: String,
    },
    /// A string holds half of a surrogate pair, which is no character.
    #[error("the string at byte {at} holds half of a surrogate pair")]
    Surrogate {
        /// Offset of the string.
        at: usize,
    },
}

impl Document {
    /// Checks JSON text; an error names the duplicate key or the place where the text breaks.
    pub fn parse(text: &str) -> Result<Self, Ambiguous> {
        let mut scanner = Scanner::new(text)?;
        walk(&mut scanner, text)?;
        scanner.end()?;
        // All white space that JSON knows; nothing else is left around the value.
        Ok(Self(text.trim_ascii().into()))
    }

    /// JSON text of what an RFC 6901 pointer names; none when there is no such thing, or the pointer is malformed.
    pub fn pointer(&self, pointer: &str) -> Option<String> {
        let mut value = &*self.0;
        if !pointer.is_empty() {
            for token in pointer.strip_prefix('/')?.split('/') {
                let span = child(value, &unescaped(token)?)?;
                value = value.get(span.range())?;
            }
        }
        Some(value.to_owned())
    }
}

/// Takes one value. Recursion ends at the scanner's limit of depth.
fn walk<'a>(scanner: &mut Scanner<'a>, text: &'a str) -> Result<(), Ambiguous> {
    match scanner.peek() {
        Some(b'{') => {
            let mut unique = Unique::default();
            scanner.object(|scanner, key| {
                let name = text.get(key.range()).and_then(string);
                let name = name.ok_or(Ambiguous::Surrogate { at: key.range().start })?;
                if !unique.insert(name.clone()) {
                    return Err(Ambiguous::Duplicate { key: beginning(&name) });
                }
                walk(scanner, text)
            })
        }
        Some(b'[') => scanner.array(|scanner| walk(scanner, text)),
        Some(b'"') => {
            let span = scanner.value()?;
            let whole = text.get(span.range()).and_then(string).is_some();
            if whole { Ok(()) } else { Err(Ambiguous::Surrogate { at: span.range().start }) }
        }
        _ => Ok(scanner.value().map(|_| ())?),
    }
}

fn child(value: &str, token: &str) -> Option<Span> {
    if value.starts_with('[') {
        let canonical = token == "0" || !token.starts_with('0');
        let digits = token.bytes().all(|byte| byte.is_ascii_digit());
        let place: usize = Some(token).filter(|_| canonical && digits)?.parse().ok()?;
        return items(value)?.get(place).copied();
    }
    let name_of = |key: &Span| value.get(key.range()).and_then(string);
    let found = members(value)?.into_iter().find(|(key, _)| name_of(key).as_deref() == Some(token));
    found.map(|(_, span)| span)
}

/// A token of a pointer: `~1` is a slash and `~0` a tilde.
fn unescaped(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (letter, rest) = match part.as_bytes().first()? {
            b'0' => ('~', part.strip_prefix('0')?),
            b'1' => ('/', part.strip_prefix('1')?),
            _ => return None,
        };
        plain.push(letter);
        plain.push_str(rest);
    }
    Some(plain)
}
