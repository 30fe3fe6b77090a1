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
    unique: Unique<'a>,
}

/// The keys of one object so far.
#[derive(Default)]
pub(super) struct Unique<'a> {
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Unique<'a> {
    /// Enters a key; false when it is there already.
    pub(super) fn insert(&mut self, key: Cow<'a, str>) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
    }
}

/// As much of a key as belongs into a sentence.
pub(super) fn beginning(key: &str) -> String {
    key.chars().take(64).collect()
}

impl<'a, T: Copy> Keys<'a, T> {
    pub(super) fn new(place: &'static str, known: &'static [Known<T>]) -> Self {
        Self { place, known, unique: Unique::default() }
    }

    /// Takes the key at `span` and says what it stands for, if it is an interpreted one.
    pub(super) fn take(&mut self, text: &'a str, span: Span) -> Result<Option<T>, Malformed> {
        let raw = text.get(span.range()).unwrap_or_default();
        let key = string(raw).ok_or(Malformed::Shape("a key holds a broken escape"))?;
        let place = self.place;
        let found = self.known.iter().find(|(known, _)| *known == key);
        if found.is_none()
            && let Some((known, _)) = self.known.iter().find(|(known, _)| same_letters(known, &key))
        {
            return Err(Malformed::Case { key: beginning(&key), place, known });
        }
        if !self.unique.insert(key.clone()) {
            return Err(Malformed::Duplicate { key: beginning(&key), place });
        }
        Ok(found.map(|(_, meaning)| *meaning))
    }
}

/// Whether a reader that ignores case, by Unicode's simple folding as Go's decoder does, takes `key` for `known`.
fn same_letters(known: &str, key: &str) -> bool {
    let mut letters = key.chars().map(|letter| match letter {
        '\u{17f}' => 's',
        // Java's way to ignore case takes these for an i.
        '\u{130}' | '\u{131}' => 'i',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    });
    known.chars().all(|letter| letters.next() == Some(letter.to_ascii_lowercase()))
        && letters.next().is_none()
}
