//! Okapi BM25, with the numbers and the words of the reference's search tool, so that both rank alike.
//!
//! Statistics count only what the caller sees: a score tells nothing about tools that a policy hides.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use super::packed::{Joined, Packed, numbers};

/// How fast repeating a word stops to count.
const K1: f64 = 1.5;
/// How much long texts are held against themselves.
const B: f64 = 0.75;
/// Longer words count by their first bytes.
const WORD_MAX: usize = 64;
/// So many different words of a query count.
const QUERY_WORDS: usize = 64;

/// The words of a text: runs of `a` to `z`, digits and `_` in its lower case. `parse_molecule` is one, `drug-screening` two.
pub fn words(lower: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let runs = lower.split(move |c| !inside(c)).filter(|word| !word.is_empty());
    runs.map(|word| word.get(..WORD_MAX).unwrap_or(word))
}

/// Texts by their words. A document is known by its place, in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// Number of words of each document.
    lengths: Vec<u32>,
    /// Words in rising order.
    words: Joined,
    /// For each word the documents that hold it, packed: distance from the one before, then how often.
    found: Joined,
}

/// An index in the making.
#[derive(Debug, Default)]
pub struct Builder {
    lengths: Vec<u32>,
    places: HashMap<String, usize>,
    /// For each word: the last document that holds it, and all of them.
    found: Vec<(u32, Packed)>,
}

impl Builder {
    /// Adds the next document.
    pub fn add(&mut self, text: &str) {
        let document = u32::try_from(self.lengths.len()).unwrap_or(u32::MAX);
        let lower = text.to_lowercase();
        let (mut counts, mut length) = (BTreeMap::<usize, u32>::new(), 0_u32);
        for word in words(&lower) {
            length = length.saturating_add(1);
            let place = self.places.get(word).copied().unwrap_or_else(|| {
                let place = self.found.len();
                self.found.push((0, Packed::default()));
                self.places.insert(word.to_owned(), place);
                place
            });
            *counts.entry(place).or_default() += 1;
        }
        for (place, count) in counts {
            if let Some((last, packed)) = self.found.get_mut(place) {
                packed.push(document - *last);
                packed.push(count);
                *last = document;
            }
        }
        self.lengths.push(length);
    }

    /// The index of what was added.
    pub fn finish(self) -> Index {
        let mut places: Vec<(String, usize)> = self.places.into_iter().collect();
        places.sort_unstable();
        let found = places.iter().filter_map(|(_, place)| Some(self.found.get(*place)?.1.text()));
        let found = Joined::of(found);
        let words = Joined::of(places.iter().map(|(word, _)| word));
        Index { lengths: self.lengths, words, found }
    }
}

/// A document that was found, and how well it fits.
pub type Hit = (u32, f64);

impl Index {
    /// The index of these texts.
    pub fn of(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut builder = Builder::default();
        texts.into_iter().for_each(|text| builder.add(text.as_ref()));
        builder.finish()
    }

    /// The `top` best of the documents that are `seen` and hold a word of the query, best first, of equals the earlier one
    /// first. A blank query gives the first ones, all with 0.
    pub fn rank(&self, query: &str, top: usize, seen: &[bool]) -> Vec<Hit> {
        let is_seen = |document: u32| seen.get(document as usize).copied().unwrap_or(false);
        if query.trim().is_empty() {
            let all = (0..).zip(&self.lengths).map(|(document, _)| document);
            return all.filter(|one| is_seen(*one)).take(top).map(|one| (one, 0.0)).collect();
        }
        let (mut documents, mut total) = (0_u32, 0_u32);
        for (length, _) in self.lengths.iter().zip(seen).filter(|(_, seen)| **seen) {
            documents = documents.saturating_add(1);
            total = total.saturating_add(*length);
        }
        let average = if documents == 0 { 0.0 } else { f64::from(total) / f64::from(documents) };
        let mut scores = vec![0.0; self.lengths.len()];
        let lower = query.to_lowercase();
        for (word, times) in counted(&lower) {
            let held: Vec<(u32, u32)> =
                self.documents(word).filter(|(document, _)| is_seen(*document)).collect();
            let weight = f64::from(times) * rarity(documents, held.len());
            for (document, count) in held {
                let place = document as usize;
                if let (Some(score), Some(length)) =
                    (scores.get_mut(place), self.lengths.get(place))
                {
                    *score += weight * saturated(count, *length, average);
                }
            }
        }
        best(&scores, top)
    }

    /// The documents that hold a word, each with how often.
    fn documents(&self, word: &str) -> impl Iterator<Item = (u32, u32)> {
        let packed = self.words.find(word).and_then(|place| self.found.get(place));
        let mut numbers = numbers(packed.unwrap_or_default());
        let mut document = 0_u32;
        std::iter::from_fn(move || {
            document = document.checked_add(numbers.next()?)?;
            Some((document, numbers.next()?))
        })
    }

    /// As three lines of text: lengths, words, documents.
    pub fn lines(&self) -> (Packed, &str, &str) {
        (Packed::of(self.lengths.iter().copied()), self.words.text(), self.found.text())
    }

    /// From three lines of text.
    pub fn read(lengths: &str, words: &str, found: &str) -> Self {
        let lengths = numbers(lengths).collect();
        Self { lengths, words: Joined::read(words), found: Joined::read(found) }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }
}

/// The different words of a query in their order, each with how often it stands there.
fn counted(lower: &str) -> Vec<(&str, u32)> {
    let mut counted: Vec<(&str, u32)> = Vec::new();
    for word in words(lower) {
        let full = counted.len() == QUERY_WORDS;
        match counted.iter_mut().find(|(known, _)| *known == word) {
            Some((_, times)) => *times += 1,
            None if !full => counted.push((word, 1)),
            None => {}
        }
    }
    counted
}

/// What finding a word is worth that so many of all documents hold.
fn rarity(documents: u32, holding: usize) -> f64 {
    let (all, holding) =
        (f64::from(documents), f64::from(u32::try_from(holding).unwrap_or(u32::MAX)));
    ((all - holding + 0.5) / (holding + 0.5) + 1.0).ln()
}

/// How much a word counts that stands so often in a text of this length.
fn saturated(count: u32, length: u32, average: f64) -> f64 {
    let count = f64::from(count);
    let normal = if average == 0.0 { 1.0 } else { 1.0 - B + B * f64::from(length) / average };
    count * (K1 + 1.0) / (count + K1 * normal)
}

fn best(scores: &[f64], top: usize) -> Vec<Hit> {
    let order = |(one, a): &Hit, (other, b): &Hit| {
        b.partial_cmp(a).unwrap_or(Ordering::Equal).then(one.cmp(other))
    };
    let found = (0..).zip(scores).filter(|(_, score)| **score > 0.0);
    let mut hits: Vec<Hit> = found.map(|(document, score)| (document, *score)).collect();
    if top < hits.len() {
        // Partitions: only what is wanted is sorted.
        hits.select_nth_unstable_by(top, order);
        hits.truncate(top);
    }
    hits.sort_unstable_by(order);
    hits
}
