//! Functions as entries of the shape: so policies judge them, and the host tells which of them a caller may know of.

use std::collections::HashSet;

use plugway_sdk::prelude::Entry;
use serde::Serialize;

use super::found::{Callable, Contents};
use super::gather::Source;
use super::shares::shares;
use crate::warning::Warning;

/// Functions of all servers that are entries. The host has room for as many besides the lists; one that is no entry is not
/// judged, so it is not shown.
pub(super) const FUNCTIONS_MAX: usize = 20_000;

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
}

/// The entries, in the order of the servers and of their catalogues. Of servers that have too many, the last ones are left out.
pub(super) fn entries(
    sources: &[Source],
    all: &[Contents<'_>],
    warnings: &mut Vec<Warning>,
) -> Vec<Entry> {
    let wanted: Vec<usize> = all.iter().map(|contents| contents.callable.len()).collect();
    let mut entries = Vec::new();
    for ((source, contents), share) in sources.iter().zip(all).zip(shares(&wanted, FUNCTIONS_MAX)) {
        entries.extend(contents.callable.iter().take(share).map(|one| entry(source, one)));
        let left = contents.callable.len().saturating_sub(share);
        if left > 0 {
            warnings.push(Warning::Functions { left, upstream: source.name.clone() });
        }
    }
    entries
}

fn entry(source: &Source, one: &Callable) -> Entry {
    let definition = Definition { name: &one.name, description: &one.description };
    // Nothing here can fail: keys are texts.
    let definition = serde_json::to_string(&definition).unwrap_or_default();
    let own = one.own.as_deref().unwrap_or(&one.name);
    Entry::fixed("function", definition, &source.name, own)
}

/// The names of a server's functions, as they are shown and as the code knows them.
pub(super) struct Names<'a> {
    words: HashSet<&'a str>,
    /// Names that are no single word.
    phrases: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn of(callable: &'a [Callable]) -> Self {
        let names = callable.iter().flat_map(|one| [Some(&*one.name), one.own.as_deref()]);
        let (words, phrases): (Vec<&str>, Vec<&str>) =
            names.flatten().partition(|name| name.chars().all(is_of_word));
        Self { words: words.into_iter().collect(), phrases }
    }

    /// The lines of a text before the first one that names a function.
    pub(super) fn before(&self, text: String) -> String {
        if self.words.is_empty() && self.phrases.is_empty() {
            return text;
        }
        let before: Vec<&str> = text.lines().take_while(|line| !self.are_in(line)).collect();
        before.join("\n")
    }

    fn are_in(&self, line: &str) -> bool {
        line.split(|c| !is_of_word(c)).any(|word| self.words.contains(word))
            || self.phrases.iter().any(|phrase| line.contains(phrase))
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
