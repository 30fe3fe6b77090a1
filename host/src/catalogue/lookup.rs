//! How entries of a catalogue are found.

use std::sync::Arc;

use super::entry::{Entry, EntryKind};
use super::table::Catalogue;

impl Catalogue {
    /// Whether the upstream at a place is away.
    pub fn is_away(&self, upstream: usize) -> bool {
        self.away.get(upstream).copied().unwrap_or(false)
    }

    /// The name of the upstream that an entry is fixed to.
    pub fn upstream_of(&self, entry: &Entry) -> Option<&Arc<str>> {
        self.upstreams.get(entry.upstream()?)
    }

    /// Whether lists may show an entry: its upstream, if it is fixed to one, is not away, and it is not held back.
    pub fn lists(&self, entry: &Entry) -> bool {
        entry.upstream().is_none_or(|upstream| !self.is_away(upstream))
            && self.held(entry).is_none()
    }

    /// Every entry, in order; those of upstreams that are away included.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// The place of an entry.
    pub fn find(&self, kind: EntryKind, key: &str) -> Option<u32> {
        self.index.get(kind as usize)?.get(key).copied()
    }

    /// The names in the code of all functions of the upstream at a place, each with a line feed behind it, whoever may see
    /// them; none where it has none. Made when it is first asked for.
    pub fn functions_of(&self, upstream: usize) -> Option<&str> {
        self.functions.names(upstream, &self.entries)
    }

    /// The entry at a place.
    pub fn entry(&self, place: u32) -> Option<&Arc<Entry>> {
        self.entries.get(place as usize)
    }

    /// Places of the tools that name a URI as their user interface, in order.
    pub fn tools_of_ui(&self, uri: &str) -> &[u32] {
        self.uis.get(uri).map_or(&[], |places| places)
    }

    /// Places of the templates that a URI fits, in order.
    pub fn templates_of<'a>(&'a self, uri: &'a str) -> impl Iterator<Item = u32> + 'a {
        self.templates.iter().filter(|(template, _)| template.fits(uri)).map(|(_, place)| *place)
    }
}
