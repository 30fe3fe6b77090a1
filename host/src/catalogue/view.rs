//! The catalogue as one caller sees it.

use std::sync::{Arc, OnceLock};

use super::caching::Caching;
use super::discreet::{self, Discreet};
use super::entry::{Entry, EntryKind};
use super::list::{self, Form, Page};
use super::table::Catalogue;
use super::uri;

/// How much a caller sees of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// In lists while its upstream is not away, and callable.
    Shown,
    /// Not in lists; a call reaches the policies and gets their reason.
    Unlisted,
    /// As if it did not exist.
    Hidden,
}

/// A catalogue and what of it is to be seen.
#[derive(Debug)]
pub struct View {
    catalogue: Arc<Catalogue>,
    /// One for each entry; none = all are shown.
    sights: Option<Box<[Sight]>>,
    /// The pages of each list in each form, once they were asked for.
    lists: [[OnceLock<Box<[Page]>>; 3]; 4],
    /// Places where the pages of the list of tools begin, if not where they do in the catalogue.
    starts: Option<Box<[u32]>>,
    /// What is listed of it before anybody loaded more, once that was asked for.
    residents: OnceLock<Arc<Self>>,
    /// What its client is told about it; empty = nothing.
    notice: Box<str>,
    /// Definitions that would name a hidden function, without it, once one was asked for.
    discreet: OnceLock<Arc<Discreet>>,
}

impl View {
    /// A view in which everything is shown.
    pub fn whole(catalogue: Arc<Catalogue>) -> Self {
        Self::of(catalogue, None, None)
    }

    /// A view with a sight for each entry; entries beyond the sights are hidden.
    pub fn filtered(catalogue: Arc<Catalogue>, sights: Vec<Sight>) -> Self {
        Self::of(catalogue, Some(sights.into_boxed_slice()), None)
    }

    fn of(
        catalogue: Arc<Catalogue>,
        sights: Option<Box<[Sight]>>,
        starts: Option<Box<[u32]>>,
    ) -> Self {
        let lists = Default::default();
        let (residents, notice) = (OnceLock::new(), Box::default());
        let discreet = OnceLock::new();
        Self { catalogue, sights, lists, starts, residents, notice, discreet }
    }

    /// The same, of which its client is told this.
    #[must_use]
    pub fn with_notice(self, notice: String) -> Self {
        Self { notice: notice.into(), ..self }
    }

    /// What its client is told about it; empty = nothing.
    pub fn notice(&self) -> &str {
        &self.notice
    }

    /// The same, but that lists show of tools only residents and those that this is true for. Only lists differ: everything
    /// is found that was.
    #[must_use]
    pub fn narrowed(&self, is_loaded: impl Fn(&Entry) -> bool) -> Self {
        let entries = self.catalogue.entries();
        let mut sights = Vec::with_capacity(entries.len());
        let mut kept = Vec::new();
        for (entry, place) in entries.iter().zip(0..) {
            let listed = self.catalogue.is_resident(place) || is_loaded(entry);
            if listed {
                kept.push((entry.clone(), place));
            }
            sights.push(match self.sight(place) {
                Sight::Shown if !listed => Sight::Unlisted,
                sight => sight,
            });
        }
        let starts = list::cut(kept.into_iter(), EntryKind::Tool);
        let narrowed =
            Self::of(self.catalogue.clone(), Some(sights.into_boxed_slice()), Some(starts));
        // Narrowing takes no function away: what one has read of that serves all.
        let discreet = OnceLock::from(self.discreet().clone());
        Self { discreet, ..narrowed }
    }

    /// What is listed of it before anybody loaded more.
    pub fn residents(&self) -> Arc<Self> {
        self.residents.get_or_init(|| Arc::new(self.narrowed(|_| false))).clone()
    }

    /// Places where the pages of a list begin; there is always one.
    pub(super) fn pages(&self, kind: EntryKind) -> &[u32] {
        match &self.starts {
            Some(starts) if kind == EntryKind::Tool => starts,
            _ => self.catalogue.pages(kind),
        }
    }

    /// The catalogue behind the view.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Whether something of the catalogue may be hidden.
    pub fn is_filtered(&self) -> bool {
        self.sights.is_some()
    }

    /// How much is seen of the entry at a place. Of what is held back nobody sees more than that it is there, whatever
    /// policies say.
    pub fn sight(&self, place: u32) -> Sight {
        let sight = match &self.sights {
            None => Sight::Shown,
            Some(sights) => sights.get(place as usize).copied().unwrap_or(Sight::Hidden),
        };
        match (sight, self.catalogue.entry(place)) {
            (Sight::Shown, Some(entry)) if self.catalogue.held(entry).is_some() => Sight::Unlisted,
            _ => sight,
        }
    }

    /// The definition of the entry at a place as it may be shown here: the words of a server do not name its functions that are
    /// not shown.
    pub fn definition<'a>(&'a self, entry: &'a Entry, place: u32) -> &'a str {
        if self.sights.is_none() || entry.kind != EntryKind::Tool {
            return &entry.definition;
        }
        self.discreet().get(&place).map_or(&*entry.definition, |text| &**text)
    }

    fn discreet(&self) -> &Arc<Discreet> {
        self.discreet.get_or_init(|| Arc::new(discreet::of(self)))
    }

    /// The entry that a name stands for; hidden is unknown, unlisted is found.
    pub fn find(&self, kind: EntryKind, key: &str) -> Option<&Arc<Entry>> {
        let place = self.catalogue.find(kind, key)?;
        self.visible(place)
    }

    /// The entry that serves a URI: the resource of that URI, else the first template that it fits. A resource that is
    /// hidden stays hidden where a template would fit its URI, and so do those of a hidden template where one fits that is
    /// not narrower. What is found of a template says nothing yet of this one URI.
    pub fn find_uri(&self, uri: &str) -> Option<&Arc<Entry>> {
        if let Some(place) = self.catalogue.find(EntryKind::Resource, uri) {
            return self.visible(place);
        }
        let places = || self.catalogue.templates_of(uri);
        if !self.is_filtered() {
            return places().find_map(|place| self.visible(place));
        }
        let hidden = places().filter(|place| self.sight(*place) == Sight::Hidden);
        let hidden: Vec<&Entry> =
            hidden.filter_map(|place| self.catalogue.entry(place)).map(|entry| &**entry).collect();
        let shown = places().filter_map(|place| self.visible(place));
        let is_narrower = |entry: &Entry, than: &&Entry| uri::is_narrower(&entry.key, &than.key);
        shown.into_iter().find(|entry| hidden.iter().all(|hidden| is_narrower(entry, hidden)))
    }

    /// Whether a URI is one of a resource or template that is hidden here.
    pub fn hides_uri(&self, uri: &str) -> bool {
        let mut places = self.catalogue.templates_of(uri);
        let own = self.catalogue.find(EntryKind::Resource, uri);
        own.is_some_and(|place| self.sight(place) == Sight::Hidden)
            || places.any(|place| self.sight(place) == Sight::Hidden)
    }

    /// The upstream of a tool here that names this URI as its user interface (MCP Apps).
    pub fn upstream_of_ui(&self, uri: &str) -> Option<usize> {
        let mut places = self.catalogue.tools_of_ui(uri).iter();
        places.find_map(|place| {
            let entry = self.visible(*place)?;
            self.catalogue.held(entry).is_none().then(|| entry.upstream())?
        })
    }

    fn visible(&self, place: u32) -> Option<&Arc<Entry>> {
        let entry = self.catalogue.entry(place)?;
        (self.sight(place) != Sight::Hidden).then_some(entry)
    }

    /// The entries that lists show, in order.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.listed_places().map(|(entry, _)| entry)
    }

    /// The entries that lists show, in order, each with its place.
    pub fn listed_places(&self) -> impl Iterator<Item = (&Arc<Entry>, u32)> {
        self.shown().filter(|(entry, _)| self.catalogue.lists(entry))
    }

    /// The same with the entries of upstreams that are away.
    pub fn shown(&self) -> impl Iterator<Item = (&Arc<Entry>, u32)> {
        let entries = self.catalogue.entries().iter().zip(0..);
        entries.filter(|(_, place)| self.sight(*place) == Sight::Shown)
    }

    /// A page of the result of a list request, the first one is 0; all are rendered once.
    pub fn page(&self, kind: EntryKind, form: Form, number: u32) -> Option<Page> {
        let cell = self.lists.get(kind as usize)?.get(form as usize)?;
        let pages = cell.get_or_init(|| list::render(self, kind, form));
        pages.get(number as usize).cloned()
    }

    /// How long a list counts for who sees it in this view. One that a policy filtered, or that an identified caller asked
    /// for, is that caller's.
    pub(super) fn caching(&self, kind: EntryKind, form: Form) -> Caching {
        let all = self.catalogue.caching(kind);
        Caching { public: all.public && form == Form::Shared && !self.is_filtered(), ..all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Held, Shaped, ShapedEntry, ShapedTarget};

    /// Tools `t0` to `t9` and a prompt, of which `t3` and the prompt are residents.
    fn catalogue() -> Arc<Catalogue> {
        let kinds = (0..10).map(|n| ("tool", format!("t{n}"))).chain([("prompt", "p".to_owned())]);
        let entries = kinds.map(|(kind, name)| ShapedEntry {
            kind: kind.to_owned(),
            definition: format!(r#"{{"name":"{name}"}}"#),
            target: ShapedTarget::Fixed("a".to_owned(), name),
        });
        let shaped = Shaped { entries: entries.collect(), ..Shaped::default() };
        let (made, refused) = Catalogue::compile(1, vec!["a".into()], shaped);
        assert!(refused.is_empty());
        let is_resident = |entry: &Entry| entry.kind == EntryKind::Prompt || *entry.key == *"t3";
        Arc::new(made.with_residents(Some(is_resident)))
    }

    fn listed(view: &View) -> Vec<&str> {
        view.listed().map(|entry| &*entry.key).collect()
    }

    #[test]
    fn a_narrowed_view_lists_residents_and_what_was_loaded_and_finds_everything() {
        let whole = View::whole(catalogue());
        assert_eq!(whole.listed().count(), 11);
        assert_eq!(listed(&whole.residents()), ["t3", "p"]);
        assert!(Arc::ptr_eq(&whole.residents(), &whole.residents()), "it is made once");
        let loaded = whole.narrowed(|entry| *entry.key == *"t7");
        assert_eq!(listed(&loaded), ["t3", "t7", "p"]);
        assert!(loaded.find(EntryKind::Tool, "t0").is_some());
        let page = loaded.page(EntryKind::Tool, Form::Legacy, 0).unwrap();
        assert_eq!(page.text, r#"{"tools":[{"name":"t3"},{"name":"t7"}]}"#);
        assert!(page.next.is_none());
    }

    #[test]
    fn what_is_held_back_is_unlisted_whatever_is_said_of_it() {
        let mut held = Held::default();
        for name in ["t3", "t4"] {
            held.insert(EntryKind::Tool, name.into(), "Held.".into());
        }
        // Another kind of thing with the same name is another thing.
        held.insert(EntryKind::Resource, "p".into(), "Held.".into());
        let made = Catalogue::clone(&catalogue()).with_held(vec![Arc::new(held)]);
        let made = Arc::new(made.with_residents(None::<fn(&Entry) -> bool>));
        let whole = View::whole(made.clone());
        assert_eq!(listed(&whole).len(), 9);
        assert!(listed(&whole).contains(&"p"));
        assert!(!listed(&whole).iter().any(|name| ["t3", "t4"].contains(name)));
        let mut sights = vec![Sight::Shown; 11];
        sights[4] = Sight::Hidden;
        for view in [&whole, &View::filtered(made.clone(), sights)] {
            assert_eq!(view.sight(3), Sight::Unlisted);
            let found = view.find(EntryKind::Tool, "t3").unwrap();
            assert_eq!(made.held(found).map(|why| &**why), Some("Held."));
            assert!(!listed(&view.narrowed(|_| true)).contains(&"t3"));
        }
        assert_eq!(View::filtered(made, Vec::new()).sight(3), Sight::Hidden);
    }

    #[test]
    fn narrowing_shows_nothing_that_was_not_to_be_seen() {
        let mut sights = vec![Sight::Shown; 11];
        (sights[3], sights[7]) = (Sight::Hidden, Sight::Unlisted);
        let view = View::filtered(catalogue(), sights);
        let loaded = view.narrowed(|entry| ["t3", "t7", "t8"].contains(&&*entry.key));
        assert_eq!(listed(&loaded), ["t8", "p"]);
        assert!(loaded.find(EntryKind::Tool, "t3").is_none());
        assert_eq!(loaded.sight(7), Sight::Unlisted);
    }
}
