//! What the router shaped, compiled into a table.

use std::collections::HashMap;
use std::sync::Arc;

use super::caching::Caching;
use super::definition::{Definition, is_object, ui};
use super::entry::{Entry, EntryKind, Hints, Target};
use super::functions::{self, Functions};
use super::held::Held;
use super::list;
use super::uri::Template;
use crate::protocol::{Mirrored, Revision, annotations};

/// What a router plugin gives.
#[derive(Clone, Debug, Default)]
pub struct Shaped {
    /// Entries, in the order clients are to see them.
    pub entries: Vec<ShapedEntry>,
    /// Kept beside the entries, for the plugin's own use.
    pub document: String,
    /// What the operator wrote that does not fit these servers, one sentence each.
    pub problems: Vec<String>,
    /// Whether servers that were not reached yet may show that there are problems.
    pub pending: bool,
}

/// One entry as the router gives it.
#[derive(Clone, Debug)]
pub struct ShapedEntry {
    /// "tool", "prompt", "resource", "template" or "function".
    pub kind: String,
    /// JSON text as clients are to see it.
    pub definition: String,
    /// Who serves it.
    pub target: ShapedTarget,
}

/// Who serves an entry, upstreams by name.
#[derive(Clone, Debug)]
pub enum ShapedTarget {
    /// Upstream and its own name for the thing.
    Fixed(String, String),
    /// The same, and a JSON object that is merged into the arguments of each call.
    Bound(String, String, String),
    /// The same, and `route` judges each call.
    Guarded(String, String),
    /// `route` decides.
    Dynamic,
    /// `answer` serves.
    Local,
}

/// Everything that a connector offers, before anybody's view of it.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Counts up with every change.
    pub generation: u32,
    /// Names of the connector's upstreams, in the order of the configuration.
    pub upstreams: Vec<Arc<str>>,
    /// What the router stored beside the entries.
    pub document: Arc<str>,
    /// For each upstream, whether it is away: its entries are found, but not listed.
    pub(super) away: Box<[bool]>,
    /// For each upstream, whether it has tasks.
    tasks: Box<[bool]>,
    /// For each upstream, what it declares to those who see this.
    declared: Box<[Option<Declared>]>,
    /// Whether some upstream says what it offers to callers only, so that this is not what each of them sees.
    veiled: bool,
    /// For each upstream, whether the router judges calls of it.
    guarded: Box<[bool]>,
    /// For each upstream, what of it is held back; empty where nothing of any is.
    held: Box<[Arc<Held>]>,
    /// For each entry, whether it is listed before anybody loaded it; none = all are.
    residents: Option<Box<[bool]>>,
    /// For each list, how long it counts.
    caching: [Caching; 4],
    /// For each list, the places where its pages begin.
    pages: [Box<[u32]>; 4],
    pub(super) entries: Vec<Arc<Entry>>,
    pub(super) index: [HashMap<Arc<str>, u32>; EntryKind::ALL.len()],
    /// The functions of each upstream, for whoever asks about all of them.
    pub(super) functions: Functions,
    pub(super) templates: Vec<(Template, u32)>,
    /// Places of the tools that name a URI as their user interface.
    pub(super) uis: HashMap<Box<str>, Vec<u32>>,
}

/// What an upstream says of itself.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The revision that plugway speaks with it.
    pub revision: Revision,
    /// JSON text of its capabilities.
    pub capabilities: Arc<str>,
}

/// An entry that the router gave and that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEntry {
    /// The kind is none of the contract's.
    #[error("entry {place} has the unknown kind {kind:?}")]
    Kind {
        /// Place in the list.
        place: usize,
        /// The kind as given.
        kind: String,
    },
    /// The definition is no JSON object with the member that names the entry.
    #[error("entry {place} is no JSON object with a string {member:?}")]
    Definition {
        /// Place in the list.
        place: usize,
        /// The missing member.
        member: &'static str,
    },
    /// The target names an upstream that the connector does not have.
    #[error(
        "the entry {key:?} names the upstream {upstream:?}, which this connector does not have"
    )]
    Upstream {
        /// Name or URI of the entry.
        key: Arc<str>,
        /// The upstream as given.
        upstream: String,
    },
    /// A function that is no upstream's, or whose name could not be told from those of others.
    #[error("the function {name:?} has no fixed upstream, or control characters in its names")]
    Function {
        /// Its name as clients are to see it.
        name: String,
    },
    /// What is to be merged into the arguments of its calls is no JSON object.
    #[error("the entry {key:?} is bound to arguments that are no JSON object")]
    Arguments {
        /// Name or URI of the entry.
        key: Arc<str>,
    },
    /// An earlier entry has this name.
    #[error("the name {key:?} is taken: the first entry keeps it")]
    Taken {
        /// Name or URI of the entry.
        key: Arc<str>,
    },
}

impl Catalogue {
    /// Compiles what the router gave. Entries that cannot be used are left out and reported.
    pub fn compile(
        generation: u32,
        upstreams: Vec<Arc<str>>,
        shaped: Shaped,
    ) -> (Self, Vec<BadEntry>) {
        let mut table =
            Self { generation, upstreams, document: shaped.document.into(), ..Self::default() };
        table.guarded = vec![false; table.upstreams.len()].into();
        table.functions = Functions::of(table.upstreams.len());
        let mut refused = Vec::new();
        for (place, entry) in shaped.entries.into_iter().enumerate() {
            if let Err(error) = table.add(place, entry) {
                refused.push(error);
            }
        }
        table.pages =
            EntryKind::LISTS.map(|kind| list::cut(table.entries.iter().cloned().zip(0..), kind));
        (table, refused)
    }

    fn add(&mut self, place: usize, shaped: ShapedEntry) -> Result<(), BadEntry> {
        let kind =
            EntryKind::parse(&shaped.kind).ok_or(BadEntry::Kind { place, kind: shaped.kind })?;
        let definition = Definition::parse(kind, &shaped.definition)
            .ok_or(BadEntry::Definition { place, member: kind.key() })?;
        let key: Arc<str> = match kind {
            EntryKind::Function => functions::key(definition.key, &shaped.target)?,
            _ => definition.key.into(),
        };
        let (target, arguments) = match shaped.target {
            ShapedTarget::Dynamic => (Target::Dynamic, None),
            ShapedTarget::Local => (Target::Local, None),
            ShapedTarget::Fixed(upstream, name) => {
                (self.fixed(&key, upstream, &name, false)?, None)
            }
            ShapedTarget::Guarded(upstream, name) => {
                (self.fixed(&key, upstream, &name, true)?, None)
            }
            ShapedTarget::Bound(upstream, name, arguments) => {
                if !is_object(&arguments) {
                    return Err(BadEntry::Arguments { key });
                }
                (self.fixed(&key, upstream, &name, false)?, Some(arguments.into()))
            }
        };
        let guarded = match target {
            Target::Fixed { upstream, guarded: true, .. } => self.guarded.get_mut(upstream),
            _ => None,
        };
        if let Some(guarded) = guarded {
            *guarded = true;
        }
        let index = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let Some(names) = self.index.get_mut(kind as usize) else { return Ok(()) };
        if names.contains_key(&key) {
            return Err(BadEntry::Taken { key });
        }
        names.insert(key.clone(), index);
        if kind == EntryKind::Template
            && let Some(template) = Template::parse(&key)
        {
            self.templates.push((template, index));
        }
        let mirrored = match kind {
            EntryKind::Tool => self.read_tool(&shaped.definition, index),
            _ => Box::default(),
        };
        // What a server says about its own tools is a claim: the operator cannot say yet that it is to be trusted. The
        // router is the operator's.
        let hints = match target {
            Target::Local => definition.hints,
            Target::Fixed { .. } | Target::Dynamic => Hints::default(),
        };
        self.entries.push(Arc::new(Entry {
            kind,
            key,
            definition: shaped.definition.into(),
            target,
            arguments,
            hints,
            mirrored,
        }));
        Ok(())
    }

    /// Keeps which URI a tool names as its user interface; the arguments that travel in a header, too.
    fn read_tool(&mut self, definition: &str, index: u32) -> Box<[Mirrored]> {
        if let Some(uri) = ui(definition) {
            self.uis.entry(uri.into()).or_default().push(index);
        }
        // A client that follows the rules does not see a tool whose annotations break them.
        annotations::mirrored(definition).unwrap_or_default()
    }

    fn fixed(
        &self,
        key: &Arc<str>,
        upstream: String,
        name: &str,
        guarded: bool,
    ) -> Result<Target, BadEntry> {
        match self.upstreams.iter().position(|known| **known == *upstream) {
            Some(upstream) => Ok(Target::Fixed { upstream, name: name.into(), guarded }),
            None => Err(BadEntry::Upstream { key: key.clone(), upstream }),
        }
    }

    /// The same entries with these upstreams away, as another generation.
    #[must_use]
    pub fn with_away(mut self, generation: u32, away: Vec<bool>) -> Self {
        self.generation = generation;
        self.away = away.into_boxed_slice();
        self
    }

    /// The same entries of upstreams that have tasks, or have none.
    #[must_use]
    pub fn with_tasks(mut self, tasks: Vec<bool>) -> Self {
        self.tasks = tasks.into_boxed_slice();
        self
    }

    /// The same entries of upstreams that say this of themselves; `veiled` says that there are some which say what they offer
    /// to callers only.
    #[must_use]
    pub fn with_declared(mut self, declared: Vec<Option<Declared>>, veiled: bool) -> Self {
        self.declared = declared.into_boxed_slice();
        self.veiled = veiled;
        self
    }

    /// The same entries of upstreams of which this is held back, by their places.
    #[must_use]
    pub fn with_held(mut self, held: Vec<Arc<Held>>) -> Self {
        let any = held.iter().any(|held| !held.is_empty());
        self.held = if any { held.into_boxed_slice() } else { Box::default() };
        self
    }

    /// Why an entry is held back; none where it is not. All that the router made of one thing of a server is held with it.
    pub fn held(&self, entry: &Entry) -> Option<&Arc<str>> {
        if self.held.is_empty() {
            return None;
        }
        let Target::Fixed { upstream, name, .. } = &entry.target else { return None };
        self.held_of(*upstream, entry.kind, name)
    }

    /// Why a thing of the upstream at a place is held back, by its own name.
    pub fn held_of(&self, upstream: usize, kind: EntryKind, name: &str) -> Option<&Arc<str>> {
        self.held.get(upstream)?.why(kind, name)
    }

    /// Whether a resource or a template of the upstream at a place is held back.
    pub fn holds_resources(&self, upstream: usize) -> bool {
        self.held.get(upstream).is_some_and(|held| held.has_resources())
    }

    /// Whether something of the upstream at a place is held back.
    pub fn holds(&self, upstream: usize) -> bool {
        self.held.get(upstream).is_some_and(|held| !held.is_empty())
    }

    /// What the upstream at a place declares to those who see this.
    pub fn declared(&self, upstream: usize) -> Option<&Declared> {
        self.declared.get(upstream)?.as_ref()
    }

    /// Whether some upstream says what it offers to callers only.
    pub fn is_veiled(&self) -> bool {
        self.veiled
    }

    /// The same entries, of which only those that this is true for are listed before somebody loaded them.
    #[must_use]
    pub fn with_residents(mut self, is: Option<impl Fn(&Entry) -> bool>) -> Self {
        self.residents = is.map(|is| self.entries.iter().map(|entry| is(entry)).collect());
        self
    }

    /// Whether the entry at a place is listed before anybody loaded it.
    pub fn is_resident(&self, place: u32) -> bool {
        let residents = self.residents.as_ref();
        residents.is_none_or(|all| all.get(place as usize).copied().unwrap_or(false))
    }

    /// Whether the upstream at a place has tasks.
    pub fn has_tasks(&self, upstream: usize) -> bool {
        self.tasks.get(upstream).copied().unwrap_or(false)
    }

    /// Whether the upstream at a place has entries whose calls the router judges.
    pub fn guards(&self, upstream: usize) -> bool {
        self.guarded.get(upstream).copied().unwrap_or(false)
    }

    /// The same entries; each list counts as long as this says of what upstreams give. What plugway or its router authored
    /// may change at any moment.
    #[must_use]
    pub fn with_caching(mut self, upstreams: [Caching; 4]) -> Self {
        self.caching = upstreams;
        for entry in &self.entries {
            if let (None, Some(list)) =
                (entry.upstream(), self.caching.get_mut(entry.kind as usize))
            {
                *list = Caching::default();
            }
        }
        self
    }

    /// How long the list of a kind counts.
    pub fn caching(&self, kind: EntryKind) -> Caching {
        self.caching.get(kind as usize).copied().unwrap_or_default()
    }

    /// Places where the pages of a list begin; there is always one.
    pub fn pages(&self, kind: EntryKind) -> &[u32] {
        match self.pages.get(kind as usize).map(|pages| &**pages) {
            None | Some([]) => &[0],
            Some(pages) => pages,
        }
    }

    /// Entries whose tools have these pages.
    #[cfg(test)]
    pub(super) fn of_entries(entries: Vec<Arc<Entry>>, tools: Box<[u32]>) -> Self {
        let pages = [tools, Box::default(), Box::default(), Box::default()];
        Self { pages, entries, ..Self::default() }
    }
}
