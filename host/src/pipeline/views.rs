//! The catalogue now, and the views of it that callers have.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use dashmap::DashMap;

use super::caller::Caller;
use super::connector::Connector;
use super::port::Page;
use super::viewer::Viewer;
use crate::catalogue::{Catalogue, Entry, Sight, View};
use crate::fault::Fault;

/// `visible` judges so many entries at a time.
const PAGE: usize = 1_000;
/// Filtered views that are kept; beyond it the views of this connector are dropped and made anew as they are needed.
const MAX_VIEWS: usize = 4_096;

/// An entry, and the name of the upstream that it is fixed to.
pub(super) type Judged = (Arc<Entry>, Option<Arc<str>>);

/// The current catalogue and the filtered views of it.
#[derive(Debug)]
pub struct Views {
    whole: ArcSwap<View>,
    /// By what the caller may do, and the generation of the catalogue.
    filtered: DashMap<(Arc<str>, u32), Filtered>,
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
        let key = (caller.rights.clone(), whole.catalogue().generation);
        if let Some(kept) = self.views.filtered.get(&key) {
            let same = Arc::ptr_eq(kept.view.catalogue(), whole.catalogue()) && kept.stamp == stamp;
            if same && kept.until.is_none_or(|until| now < until) {
                return Ok(kept.view.clone());
            }
        }
        let entries = whole.catalogue().entries().iter();
        let entries: Vec<Judged> = entries
            .map(|entry| (entry.clone(), whole.catalogue().upstream_of(entry).cloned()))
            .collect();
        let (sights, valid) = self.judge(caller, &entries).await?;
        let view = Arc::new(View::filtered(whole.catalogue().clone(), sights));
        if self.views.filtered.len() >= MAX_VIEWS {
            self.views.filtered.clear();
        }
        let kept = Filtered { view: view.clone(), stamp, until: valid.map(|valid| now + valid) };
        self.views.filtered.insert(key, kept);
        Ok(view)
    }

    /// Whether a policy may hide entries from callers.
    pub(super) fn hides(&self) -> bool {
        self.policies.iter().any(|policy| policy.hooks().visibility)
    }

    /// How much a caller sees of each entry, and how long that holds.
    pub(super) async fn judge(
        &self,
        caller: &Arc<Caller>,
        entries: &[Judged],
    ) -> Result<(Vec<Sight>, Option<Duration>), Fault> {
        let mut sights = vec![Sight::Shown; entries.len()];
        let mut valid: Option<Duration> = None;
        let run_code = self.run_code(entries);
        let judges = self.policies.iter().filter(|policy| policy.hooks().visibility);
        for policy in judges {
            for (seen, page) in sights.chunks_mut(PAGE).zip(entries.chunks(PAGE)) {
                let (connector, run_code) = (self.name.clone(), run_code.clone());
                let page = Page { connector, entries: page.to_vec(), run_code };
                let answer = policy.visible(caller.clone(), page).await?;
                for (sight, judged) in seen.iter_mut().zip(&answer.sights) {
                    *sight = stricter(*sight, *judged);
                }
                valid = shorter(valid, answer.valid);
            }
        }
        Ok((sights, valid))
    }
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
