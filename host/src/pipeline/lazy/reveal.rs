//! Loads and unloads tools of a session for a plugin.

use std::sync::Arc;
use std::time::Instant;

use super::listing;
use super::loads::{Full, Loads, Wish};
use super::residents::Lazy;
use crate::catalogue::{EntryKind, Sight, View};
use crate::pipeline::announced::Announced;
use crate::pipeline::connector::Connector;
use crate::pipeline::party::Party;

/// Names that one load may have.
const NAMES: usize = 256;
/// So many loaded tools are named where there is no room; the others are counted.
const NAMED: usize = 64;

/// What a session of a lazy connector has loaded, to be changed.
#[derive(Debug)]
pub struct Reveal {
    lazy: Arc<Lazy>,
    loads: Arc<Loads>,
    party: Arc<Party>,
    announced: Arc<Announced>,
}

/// What a load or an unload did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Newly loaded.
    pub loaded: Vec<Arc<str>>,
    /// No longer loaded, the one used the longest ago first.
    pub unloaded: Vec<Arc<str>>,
    /// So many are loaded now, as far as the caller sees them.
    pub total: usize,
    /// So many may be.
    pub cap: usize,
}

impl Reveal {
    /// None where nothing is kept.
    pub(in crate::pipeline) fn of(connector: &Connector, party: &Arc<Party>) -> Option<Self> {
        let (lazy, loads) = (connector.lazy.clone()?, party.loads.clone()?);
        let reveal =
            Self { lazy, loads, party: party.clone(), announced: connector.announced.clone() };
        listing::settle(&reveal.lazy, &reveal.loads, &reveal.party, &reveal.announced);
        Some(reveal)
    }

    /// What is loaded and seen, the one used the longest ago first.
    pub fn loaded(&self, view: &View) -> Vec<Arc<str>> {
        let names = self.loads.names().into_iter();
        names.filter(|name| is_seen(view, name)).collect()
    }

    /// Loads all of these tools or none. The error is one sentence for the client.
    #[expect(clippy::fn_params_excessive_bools, reason = "as the contract has them")]
    pub fn load(
        &self,
        view: &View,
        names: &[String],
        once: bool,
        evict: bool,
    ) -> Result<Change, String> {
        if names.len() > NAMES {
            return Err(format!("At most {NAMES} tools are loaded at once."));
        }
        let mut wanted: Vec<Arc<str>> = Vec::with_capacity(names.len());
        for name in names {
            // What is unlisted is for policies to speak about, when it is called.
            let place = view.catalogue().find(EntryKind::Tool, name);
            let place = place.filter(|place| view.sight(*place) == Sight::Shown);
            let Some((place, entry)) =
                place.and_then(|place| Some((place, view.catalogue().entry(place)?)))
            else {
                return Err(format!(
                    "There is no tool {name:?} to load: find_tools finds those that there are."
                ));
            };
            if !view.catalogue().is_resident(place) && !wanted.contains(&entry.key) {
                wanted.push(entry.key.clone());
            }
        }
        let wish = Wish { names: &wanted, once, evict, cap: self.lazy.cap, now: Instant::now() };
        match self.loads.load(wish, |name| is_seen(view, name)) {
            Ok((loaded, unloaded)) => {
                let unloaded = unloaded.into_iter().filter(|name| is_seen(view, name));
                Ok(self.changed(view, loaded, unloaded.collect()))
            }
            Err(Full { more }) => Err(self.full(view, more)),
        }
    }

    /// Unloads those of these tools that are loaded.
    pub fn unload(&self, view: &View, names: &[String]) -> Change {
        let gone = self.loads.unload(names);
        self.changed(view, Vec::new(), gone)
    }

    fn changed(&self, view: &View, loaded: Vec<Arc<str>>, unloaded: Vec<Arc<str>>) -> Change {
        if !loaded.is_empty() || !unloaded.is_empty() {
            listing::tell(&self.loads, &self.party, &self.announced);
        }
        Change { loaded, unloaded, total: self.loaded(view).len(), cap: self.lazy.cap }
    }

    fn full(&self, view: &View, more: usize) -> String {
        let (loaded, cap) = (self.loaded(view), self.lazy.cap);
        let named: Vec<&str> = loaded.iter().take(NAMED).map(|name| &**name).collect();
        let others = match loaded.len().saturating_sub(NAMED) {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        format!(
            "At most {cap} tools may be loaded, {} are, and {more} more do not fit: unload some with unload_tools first, \
             or pass \"evict\": \"lru\" to let those go that were used the longest ago. Loaded: {}{others}.",
            loaded.len(),
            if named.is_empty() { "none".to_owned() } else { named.join(", ") },
        )
    }
}

/// Whether a caller with this view may know of a tool now.
fn is_seen(view: &View, name: &str) -> bool {
    let place = view.catalogue().find(EntryKind::Tool, name);
    place.is_some_and(|place| view.sight(place) == Sight::Shown)
}
