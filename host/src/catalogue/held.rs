//! What of a server is held back: it has names, and nothing else of it is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::entry::EntryKind;

/// Things of one server that are held back, by kind and the server's own name or URI, each with a sentence for whoever calls
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held([BTreeMap<Arc<str>, Arc<str>>; 4]);

impl Held {
    /// One more is held back. The first sentence stays.
    pub fn insert(&mut self, kind: EntryKind, name: Arc<str>, sentence: Arc<str>) {
        if let Some(names) = self.0.get_mut(kind as usize) {
            names.entry(name).or_insert(sentence);
        }
    }

    /// Why a thing is held back; none where it is not.
    pub fn why(&self, kind: EntryKind, name: &str) -> Option<&Arc<str>> {
        self.0.get(kind as usize)?.get(name)
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(BTreeMap::is_empty)
    }

    /// Whether a resource or a template is.
    pub fn has_resources(&self) -> bool {
        let mut kinds = [EntryKind::Resource, EntryKind::Template].into_iter();
        kinds.any(|kind| self.0.get(kind as usize).is_some_and(|names| !names.is_empty()))
    }

    /// How many are.
    pub fn len(&self) -> usize {
        self.0.iter().map(BTreeMap::len).sum()
    }
}
