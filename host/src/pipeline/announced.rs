//! What the clients of a connector were last told of its lists, and what differs from it now.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::views::Judged;
use crate::catalogue::Catalogue;

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

#[derive(Debug, Default)]
struct Told {
    catalogue: Arc<Catalogue>,
    at: Option<Instant>,
}

/// What differs between what clients were told and what is.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Entries that entered or left the lists; one whose definition changed does both.
    pub(super) entries: Vec<Judged>,
    /// For each of them, whether it stands in the lists now.
    pub(super) listed: Vec<bool>,
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

    /// What clients have to be told; from now on they count as told.
    pub(super) fn renew(&self, catalogue: &Arc<Catalogue>, now: Instant) -> News {
        let mut told = self.lock();
        let news = News::between(&told.catalogue, catalogue);
        told.catalogue = catalogue.clone();
        if !news.is_empty() {
            told.at = Some(now);
        }
        news
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl News {
    /// Lists are compared as sets of definitions: their order tells clients nothing.
    fn between(was: &Catalogue, is: &Catalogue) -> Self {
        let mut news = Self::default();
        for (from, other, listed) in [(was, is, false), (is, was, true)] {
            let known: HashSet<_> = listing(other).map(|(key, _)| key).collect();
            for (_, judged) in listing(from).filter(|(key, _)| !known.contains(key)) {
                news.entries.push(judged);
                news.listed.push(listed);
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

    /// Whether there is nothing to tell.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// What lists show, each with what it is known by.
fn listing(catalogue: &Catalogue) -> impl Iterator<Item = ((usize, &str), Judged)> {
    catalogue.entries().iter().filter(|entry| catalogue.lists(entry)).map(|entry| {
        let key = (entry.kind as usize, &*entry.definition);
        (key, (entry.clone(), catalogue.upstream_of(entry).cloned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Shaped, ShapedEntry, ShapedTarget};

    fn catalogue(tools: &[(&str, &str)], away: &[bool]) -> Arc<Catalogue> {
        let entries = tools.iter().map(|(upstream, name)| ShapedEntry {
            kind: "tool".to_owned(),
            definition: format!(r#"{{"name":"{name}"}}"#),
            target: ShapedTarget::Fixed((*upstream).to_owned(), (*name).to_owned()),
        });
        let shaped = Shaped { entries: entries.collect(), document: String::new() };
        let upstreams = vec!["a".into(), "b".into()];
        let (made, refused) = Catalogue::compile(1, upstreams, shaped);
        assert!(refused.is_empty());
        Arc::new(made.with_away(1, away.to_vec()))
    }

    fn names(news: &News, listed: bool) -> Vec<&str> {
        let entries = news.entries.iter().zip(&news.listed).filter(|(_, now)| **now == listed);
        entries.map(|((entry, _), _)| &*entry.key).collect()
    }

    const BOTH: &[(&str, &str)] = &[("a", "x"), ("a", "y"), ("b", "z")];

    #[test]
    fn what_left_and_came_is_told_once() {
        let (announced, now) = (Announced::default(), Instant::now());
        let all = catalogue(BOTH, &[]);
        let news = announced.renew(&all, now);
        assert_eq!((names(&news, true), names(&news, false)), (vec!["x", "y", "z"], vec![]));
        assert!(news.left.is_empty() && news.back.is_empty());
        assert!(announced.renew(&catalogue(BOTH, &[]), now).is_empty(), "nothing differs");

        let news = announced.renew(&catalogue(BOTH, &[true, false]), now);
        assert_eq!((names(&news, true), names(&news, false)), (vec![], vec!["x", "y"]));
        assert_eq!((&*news.left, &*news.back), (&["a".into()][..], &[][..]));

        let fewer = [("a", "y"), ("b", "z"), ("a", "new")];
        let news = announced.renew(&catalogue(&fewer, &[]), now);
        assert_eq!((names(&news, true), names(&news, false)), (vec!["y", "new"], vec![]));
        assert_eq!((&*news.left, &*news.back), (&[][..], &["a".into()][..]));
        assert_eq!(announced.at(), Some(now));
    }

    #[test]
    fn who_flapped_back_to_the_same_lists_is_no_news_and_order_is_none_either() {
        let (announced, now) = (Announced::default(), Instant::now());
        announced.renew(&catalogue(BOTH, &[]), now);
        let turned: Vec<_> = BOTH.iter().rev().copied().collect();
        let later = now + std::time::Duration::from_secs(1);
        assert!(announced.renew(&catalogue(&turned, &[]), later).is_empty());
        assert_eq!(announced.at(), Some(now), "nothing was told");
    }
}
