//! The catalogue now, and the views of it that callers have.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use dashmap::DashMap;

use super::caller::Caller;
use super::connector::Connector;
use super::filters::Filters;
use super::port::{Page, Policy};
use super::viewer::Viewer;
use crate::catalogue::{Catalogue, Entry, Sight, View};
use crate::fault::Fault;

/// `visible` judges so many entries at a time.
const PAGE: usize = 1_000;
/// Filtered views that are kept; beyond it the views of this connector are dropped and made anew as they are needed.
const MAX_VIEWS: usize = 4_096;
/// How many of them may be for requests with filters, of which one client can think of any number; beyond it these are
/// dropped.
const MAX_ASKED: usize = 256;
/// Bytes of all notices of one view.
const NOTICES: usize = 2 * 1024;

/// An entry, and the name of the upstream that it is fixed to.
pub(super) type Judged = (Arc<Entry>, Option<Arc<str>>);

/// The current catalogue and the filtered views of it.
#[derive(Debug)]
pub struct Views {
    whole: ArcSwap<View>,
    filtered: DashMap<Key, Filtered>,
}

/// What a view is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// What the caller may do.
    rights: Arc<str>,
    /// That of the catalogue.
    generation: u32,
    /// What stands for what the request asks to see.
    filters: Option<Arc<str>>,
}

/// What policies say of entries for a caller.
#[derive(Debug)]
pub(super) struct Judgement {
    /// How much it sees of each.
    pub(super) sights: Vec<Sight>,
    /// How long that holds; none = until something changes.
    valid: Option<Duration>,
    /// Sentences for its client.
    notices: Vec<String>,
}

#[derive(Clone, Debug)]
struct Filtered {
    view: Arc<View>,
    stamp: u64,
    until: Option<Instant>,
}

impl Default for Views {
    fn default() -> Self {
        let nothing = View::whole(Arc::new(Catalogue::default()));
        Self { whole: ArcSwap::from_pointee(nothing), filtered: DashMap::new() }
    }
}

impl Views {
    /// The view that shows everything.
    pub fn whole(&self) -> Arc<View> {
        self.whole.load_full()
    }

    /// Puts a new catalogue in place; views made of the old one are dropped, so that nobody who is told of the change reads
    /// them.
    pub fn replace(&self, catalogue: Catalogue) {
        self.whole.store(Arc::new(View::whole(Arc::new(catalogue))));
        self.filtered.clear();
    }

    /// Keeps a view; where there is no room, others go.
    fn keep(&self, key: Key, kept: Filtered) {
        if key.filters.is_some() {
            let asked = self.filtered.iter().filter(|kept| kept.key().filters.is_some()).count();
            if asked >= MAX_ASKED {
                self.filtered.retain(|key, _| key.filters.is_none());
            }
        }
        if self.filtered.len() >= MAX_VIEWS {
            self.filtered.clear();
        }
        self.filtered.insert(key, kept);
    }
}

impl Connector {
    /// What this caller sees with its client. Judged anew when the catalogue, a policy's
    /// generation or the judgement's validity ended.
    pub async fn view(&self, viewer: Viewer<'_>) -> Result<Arc<View>, Fault> {
        let caller = viewer.caller;
        let built = self.built(viewer).await;
        let whole = built.map_or_else(|| self.views.whole(), |built| built.view.clone());
        if !self.hides() {
            return Ok(whole);
        }
        let stamp = self.policies.iter().fold(0_u64, |stamp, policy| {
            stamp.wrapping_mul(0x0000_0100_0000_01b3) ^ policy.generation()
        });
        let now = Instant::now();
        let key = Key {
            rights: caller.rights.clone(),
            generation: whole.catalogue().generation,
            filters: viewer.filters.map(|filters| filters.digest().clone()),
        };
        if let Some(kept) = self.views.filtered.get(&key) {
            let same = Arc::ptr_eq(kept.view.catalogue(), whole.catalogue()) && kept.stamp == stamp;
            if same && kept.until.is_none_or(|until| now < until) {
                return Ok(kept.view.clone());
            }
        }
        let entries = judged(whole.catalogue());
        let Judgement { sights, valid, notices } =
            self.judge(caller, viewer.filters, (&entries, whole.catalogue())).await?;
        let view =
            View::filtered(whole.catalogue().clone(), sights).with_notice(notices.join("\n"));
        let view = Arc::new(view);
        let kept = Filtered { view: view.clone(), stamp, until: valid.map(|valid| now + valid) };
        self.views.keep(key, kept);
        Ok(view)
    }

    /// All that it offers on one page, before anybody's view of it.
    pub fn offered_page(&self) -> Page {
        let whole = self.views.whole();
        let entries = judged(whole.catalogue());
        Page { entries: entries.clone(), ..self.page(&entries, whole.catalogue()) }
    }

    /// An empty page for these entries of a catalogue.
    fn page(&self, entries: &[Judged], catalogue: &Arc<Catalogue>) -> Page {
        let (run_code, catalogue) = (self.run_code(entries), Some(catalogue.clone()));
        Page { run_code, catalogue, ..Page::empty(self.name.clone()) }
    }

    /// Whether a policy may hide entries from callers.
    pub(super) fn hides(&self) -> bool {
        self.policies.iter().any(|policy| policy.hooks().visibility)
    }

    /// How much a caller sees of each of these entries of a catalogue.
    pub(super) async fn judge(
        &self,
        caller: &Arc<Caller>,
        filters: Option<&Arc<Filters>>,
        judged: (&[Judged], &Arc<Catalogue>),
    ) -> Result<Judgement, Fault> {
        self.judge_by(&self.policies, (caller, filters), judged).await
    }

    /// The same, by these policies.
    pub(super) async fn judge_by(
        &self,
        policies: &[Arc<dyn Policy>],
        (caller, filters): (&Arc<Caller>, Option<&Arc<Filters>>),
        (entries, catalogue): (&[Judged], &Arc<Catalogue>),
    ) -> Result<Judgement, Fault> {
        let mut sights = vec![Sight::Shown; entries.len()];
        let (mut valid, mut notices) = (None, Vec::new());
        let mut room = NOTICES;
        let mut whole = self.page(entries, catalogue);
        whole.filters = filters.cloned();
        let judges = policies.iter().filter(|policy| policy.hooks().visibility);
        for policy in judges {
            for (seen, page) in sights.chunks_mut(PAGE).zip(entries.chunks(PAGE)) {
                let page = Page { entries: page.to_vec(), ..whole.part() };
                let answer = policy.visible(caller.clone(), page).await?;
                for (sight, judged) in seen.iter_mut().zip(&answer.sights) {
                    *sight = stricter(*sight, *judged);
                }
                valid = shorter(valid, answer.valid);
                // One that judges many pages says the same of each.
                let fits =
                    answer.notice.filter(|said| said.len() <= room && !notices.contains(said));
                room = room.saturating_sub(fits.as_ref().map_or(0, String::len));
                notices.extend(fits);
            }
        }
        Ok(Judgement { sights, valid, notices })
    }
}

fn judged(catalogue: &Catalogue) -> Vec<Judged> {
    let entries = catalogue.entries().iter();
    entries.map(|entry| (entry.clone(), catalogue.upstream_of(entry).cloned())).collect()
}

fn stricter(one: Sight, other: Sight) -> Sight {
    match (one, other) {
        (Sight::Hidden, _) | (_, Sight::Hidden) => Sight::Hidden,
        (Sight::Unlisted, _) | (_, Sight::Unlisted) => Sight::Unlisted,
        (Sight::Shown, Sight::Shown) => Sight::Shown,
    }
}

fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(rights: usize, filters: Option<usize>) -> Key {
        let filters = filters.map(|filters| filters.to_string().into());
        Key { rights: rights.to_string().into(), generation: 1, filters }
    }

    fn kept() -> Filtered {
        let view = Arc::new(View::whole(Arc::new(Catalogue::default())));
        Filtered { view, stamp: 0, until: None }
    }

    #[test]
    fn views_are_bounded_and_those_of_filters_first() {
        let views = Views::default();
        (0..100).for_each(|caller| views.keep(key(caller, None), kept()));
        (0..MAX_ASKED).for_each(|filters| views.keep(key(0, Some(filters)), kept()));
        assert_eq!(views.filtered.len(), 100 + MAX_ASKED);
        views.keep(key(1, Some(MAX_ASKED)), kept());
        assert_eq!(views.filtered.len(), 101, "whoever asks for nothing keeps its view");
        (100..MAX_VIEWS).for_each(|caller| views.keep(key(caller, None), kept()));
        assert!(views.filtered.len() <= MAX_VIEWS);
    }

    #[test]
    fn a_filter_is_part_of_what_a_view_is_for() {
        assert_ne!(key(1, None), key(1, Some(0)));
        assert_ne!(key(1, Some(1)), key(1, Some(0)));
        assert_ne!(key(0, Some(0)), key(1, Some(0)));
    }
}
