//! The keys of one object: recognised exactly, refused when they come twice or differ by case only.

use std::borrow::Cow;
use std::collections::HashSet;

use super::message::{Malformed, string};
use super::scan::Span;

/// An interpreted key and what it stands for.
pub(super) type Known<T> = (&'static str, T);

/// Up to so many keys a look through the list is cheaper than hashing.
const FEW: usize = 16;

pub(super) struct Keys<'a, T: 'static> {
    place: &'static str,
    known: &'static [Known<T>],
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a, T: Copy> Keys<'a, T> {
    pub(super) fn new(place: &'static str, known: &'static [Known<T>]) -> Self {
        Self { place, known, few: Vec::new(), many: HashSet::new() }
    }

    /// Takes the key at `span` and says what it stands for, if it is an interpreted one.
    pub(super) fn take(&mut self, text: &'a str, span: Span) -> Result<Option<T>, Malformed> {
        let raw = text.get(span.range()).unwrap_or_default();
        let key = string(raw).ok_or(Malformed::Shape("a key holds a broken escape"))?;
        let place = self.place;
        let found = self.known.iter().find(|(known, _)| *known == key);
        if found.is_none() {
            if let Some((known, _)) = self.known.iter().find(|(known, _)| same_letters(known, &key))
            {
                return Err(Malformed::Case { key: key.into_owned(), place, known });
            }
        }
        if self.seen(&key) {
            return Err(Malformed::Duplicate { key: key.into_owned(), place });
        }
        Ok(found.map(|(_, meaning)| *meaning))
    }

    fn seen(&mut self, key: &Cow<'a, str>) -> bool {
        if self.few.len() < FEW {
            if self.few.contains(key) {
                return true;
            }
            self.few.push(key.clone());
            return false;
        }
        self.few.contains(key) || !self.many.insert(key.clone())
    }
}

/// Whether a reader that ignores case, by Unicode's simple folding as Go's decoder does, takes `key` for `known`.
fn same_letters(known: &str, key: &str) -> bool {
    let mut letters = key.chars().map(|letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    });
    known.chars().all(|letter| letters.next() == Some(letter.to_ascii_lowercase()))
        && letters.next().is_none()
}
