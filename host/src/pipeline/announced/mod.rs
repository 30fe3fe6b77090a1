//! What the clients of a connector were last told of its lists, and what differs from it now.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::views::Judged;
use crate::catalogue::{Catalogue, EntryKind, Sight};

/// What the clients of a connector were last told of its lists. It outlives a reload: the connector that takes another's
/// place under the same name must be given the same one (`Connector::announced`), else its clients would be told nothing of
/// what the new configuration changed, or be told of what did not change.
#[derive(Debug, Default)]
pub struct Announced {
    told: Mutex<Told>,
    messages: [AtomicU64; LISTS.len()],
}

/// The lists that clients are told of.
pub(super) const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

/// Catalogues between two tellings that are remembered: a client may have listed any of them.
const BETWEEN: usize = 8;

/// The place in [`LISTS`] of the list that shows entries of a kind; one behind all of them for a kind that no list shows.
pub(super) fn list_of(kind: EntryKind) -> usize {
    match kind {
        EntryKind::Tool => 0,
        EntryKind::Prompt => 1,
        EntryKind::Resource | EntryKind::Template => 2,
        EntryKind::Function => LISTS.len(),
    }
}

#[derive(Debug, Default)]
struct Told {
    catalogue: Arc<Catalogue>,
    /// What has been served since.
    since: Vec<Arc<Catalogue>>,
    /// Whether more was served than is remembered.
    lost: bool,
    at: Option<Instant>,
    /// For each kind of clients with a catalogue of its own, what they were told of last; none = of everybody's.
    kinds: HashMap<Arc<str>, Option<Arc<Catalogue>>>,
}

/// What the clients of a kind see now.
#[derive(Debug)]
pub(super) struct KindSees {
    /// What stands for it: JSON text of their capabilities, with the caller before it where it is one caller's.
    pub(super) kind: Arc<str>,
    pub(super) sees: Sees,
}

/// Which catalogue the clients of a kind see.
#[derive(Debug)]
pub(super) enum Sees {
    /// It is being made.
    Making,
    /// That of everybody.
    Everybodys,
    /// Their own.
    Own(Arc<Catalogue>),
}

/// What the clients of a kind are to be told, who do not see everybody's catalogue, or did not.
#[derive(Debug)]
pub(super) struct OwnNews {
    /// The generation that they see.
    pub(super) current: u32,
    /// The place of the news in the bulletin; none where nothing is new, as far as is known.
    pub(super) place: Option<usize>,
}

/// What is to be told, by what a session listed last: nobody is left with a list that was served for a moment only.
#[derive(Debug)]
pub(super) struct Bulletin {
    /// The generation that is served.
    current: u32,
    /// The generation that was last told, then each that was served since: what differs from it now.
    baselines: Vec<(u32, News)>,
    /// The place of what is told to who listed something that is not remembered.
    lost: Option<usize>,
    /// What is told to clients with a catalogue of their own, by their kind.
    kinds: HashMap<Arc<str>, OwnNews>,
}

impl Bulletin {
    /// The generation that is served.
    pub(super) fn current(&self) -> u32 {
        self.current
    }

    /// The place of the news for a session that was given this generation since the last telling; none where it is none of
    /// those that were served since, or is the one that is served.
    pub(super) fn baseline(&self, seen: u32) -> Option<usize> {
        let told = self.baselines.first().map_or(0, |(generation, _)| *generation);
        if seen <= told || seen >= self.current {
            return None;
        }
        let known = self.baselines.iter().position(|(generation, _)| *generation == seen);
        known.or(self.lost)
    }

    /// What the clients of a kind are told; none where they are told what everybody is.
    pub(super) fn own(&self, kind: &Arc<str>) -> Option<&OwnNews> {
        self.kinds.get(kind)
    }

    /// The news at a place.
    pub(super) fn news(&self, place: usize) -> Option<&News> {
        self.baselines.get(place).map(|(_, news)| news)
    }
}

/// What differs between what clients were told and what is.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Entries that entered or left the lists; one whose definition changed does both.
    pub(super) entries: Vec<Judged>,
    /// For each of them, whether it stands in the lists now.
    pub(super) listed: Vec<bool>,
    /// For each of them, whether it stands, or stood, in the lists of those who did not load it.
    pub(super) resident: Vec<bool>,
    /// Upstreams whose entries left because they are away.
    pub(super) left: Vec<Arc<str>>,
    /// Upstreams whose entries are back.
    pub(super) back: Vec<Arc<str>>,
}

impl Announced {
    /// One session was told that a list changed: its place in [`LISTS`].
    pub(super) fn count(&self, list: usize) {
        if let Some(messages) = self.messages.get(list) {
            messages.fetch_add(1, Relaxed);
        }
    }

    /// How many messages said that a list changed, by the word of the list.
    pub fn messages(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        LISTS.into_iter().zip(self.messages.iter().map(|count| count.load(Relaxed)))
    }

    /// When clients were last told something.
    pub(super) fn at(&self) -> Option<Instant> {
        self.lock().at
    }

    /// This is served from now on.
    pub(super) fn note(&self, catalogue: &Arc<Catalogue>) {
        let mut told = self.lock();
        if told.since.len() >= BETWEEN {
            told.since.remove(0);
            told.lost = true;
        }
        told.since.push(catalogue.clone());
    }

    /// The first clients of a kind see this.
    pub(super) fn first_seen(&self, kind: &Arc<str>, catalogue: Option<Arc<Catalogue>>) {
        self.lock().kinds.entry(kind.clone()).or_insert(catalogue);
    }

    /// What clients have to be told; from now on they count as told. `kinds` are all that may see something else than
    /// everybody.
    pub(super) fn renew(&self, current: &Arc<Catalogue>, kinds: Vec<KindSees>) -> Bulletin {
        let mut told = self.lock();
        let was = std::mem::replace(&mut told.catalogue, current.clone());
        let since = std::mem::take(&mut told.since);
        let lost = std::mem::take(&mut told.lost);
        let known = std::mem::take(&mut told.kinds);
        let moves: Vec<Move> =
            kinds.into_iter().filter_map(|kind| Move::of(kind, &known)).collect();
        told.kinds = moves.iter().map(Move::told).collect();
        drop(told);
        let own = moves.iter().filter_map(|kind| Some((kind, kind.news(&was, current)?)));
        let own: Vec<(Arc<str>, u32, Option<News>)> =
            own.map(|(kind, (generation, news))| (kind.kind.clone(), generation, news)).collect();
        let nothing = lost.then(Arc::default);
        let between = since.into_iter().filter(|one| one.generation != current.generation);
        let baselines = std::iter::once(was).chain(between).chain(nothing);
        let baselines = baselines.map(|was| (was.generation, News::between(&was, current)));
        let mut baselines: Vec<(u32, News)> = baselines.collect();
        let last = baselines.len().saturating_sub(1);
        let mut kinds = HashMap::new();
        for (kind, generation, news) in own {
            let place = news.map(|news| {
                // No client is given a list of this generation.
                baselines.push((0, news));
                baselines.len() - 1
            });
            kinds.insert(kind, OwnNews { current: generation, place });
        }
        Bulletin { current: current.generation, baselines, lost: lost.then_some(last), kinds }
    }

    /// Somebody was told something.
    pub(super) fn told(&self, now: Instant) {
        self.lock().at = Some(now);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the clients of a kind were told of, and what they see now.
struct Move {
    kind: Arc<str>,
    /// None = everybody's.
    was: Option<Arc<Catalogue>>,
    is: Sees,
}

impl Move {
    /// None for a kind of which nobody has seen anything yet.
    fn of(now: KindSees, told: &HashMap<Arc<str>, Option<Arc<Catalogue>>>) -> Option<Self> {
        let was = told.get(&now.kind)?.clone();
        Some(Self { kind: now.kind, was, is: now.sees })
    }

    fn told(&self) -> (Arc<str>, Option<Arc<Catalogue>>) {
        let told = match &self.is {
            Sees::Making => self.was.clone(),
            Sees::Everybodys => None,
            Sees::Own(catalogue) => Some(catalogue.clone()),
        };
        (self.kind.clone(), told)
    }

    /// The generation that they see, and what is new in it if anything may be; none where everybody's news are theirs.
    fn news(&self, was: &Catalogue, current: &Catalogue) -> Option<(u32, Option<News>)> {
        let (before, now) = match (&self.was, &self.is) {
            (None, Sees::Making | Sees::Everybodys) => return None,
            (Some(before), Sees::Making) => return Some((before.generation, None)),
            (Some(before), Sees::Own(now)) if Arc::ptr_eq(before, now) => {
                return Some((now.generation, None));
            }
            (before, Sees::Own(now)) => (before, &**now),
            (before, Sees::Everybodys) => (before, current),
        };
        let news = News::between(before.as_deref().unwrap_or(was), now);
        Some((now.generation, Some(news)))
    }
}

impl News {
    /// Lists are compared as sets of definitions: their order tells clients nothing.
    fn between(was: &Catalogue, is: &Catalogue) -> Self {
        let mut news = Self::default();
        for (from, other, listed) in [(was, is, false), (is, was, true)] {
            let known: HashSet<_> = listing(other).map(|(key, _)| key).collect();
            for (key, judged) in listing(from).filter(|(key, _)| !known.contains(key)) {
                let (.., resident) = key;
                news.entries.push(judged);
                news.listed.push(listed);
                news.resident.push(resident);
            }
        }
        let away = |catalogue: &Catalogue, name: &Arc<str>| {
            let place = catalogue.upstreams.iter().position(|known| known == name);
            place.is_some_and(|place| catalogue.is_away(place))
        };
        for name in &is.upstreams {
            match (away(was, name), away(is, name)) {
                (false, true) => news.left.push(name.clone()),
                (true, false) => news.back.push(name.clone()),
                _ => {}
            }
        }
        news
    }

    /// What is shown of this to who did not load it stays off the lists. `sights` are one for each entry.
    pub(super) fn narrow(&self, sights: &mut [Sight], loaded: &[Arc<str>]) {
        for (((entry, _), resident), sight) in self.entries.iter().zip(&self.resident).zip(sights) {
            if *sight == Sight::Shown && !resident && !loaded.contains(&entry.key) {
                *sight = Sight::Unlisted;
            }
        }
    }

    /// Whether there is nothing to tell.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// What lists show, each with what it is known by: kind, definition, and whether everybody's list shows it.
fn listing(catalogue: &Catalogue) -> impl Iterator<Item = ((usize, &str, bool), Judged)> {
    let entries = catalogue.entries().iter().zip(0..);
    let entries = entries.filter(|(entry, _)| entry.kind.is_listed() && catalogue.lists(entry));
    entries.map(|(entry, place)| {
        let key = (entry.kind as usize, &*entry.definition, catalogue.is_resident(place));
        (key, (entry.clone(), catalogue.upstream_of(entry).cloned()))
    })
}

#[cfg(test)]
mod tests;
