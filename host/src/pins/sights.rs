//! What this process saw waiting, and who is shown it: what nobody is shown any more waits no more. Of what another process saw
//! with the same file it knows nothing, and settles nothing but once, when it begins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lock::{Item, Key, Lock};

/// Views of some clients or callers that are told apart; of one more the first is taken as gone.
const VIEWS: usize = 256;

/// What waits of one upstream, as far as this process sees it.
#[derive(Debug, Default)]
pub(super) struct Sights {
    /// Whether what waited before this process began was looked through.
    began: bool,
    /// All that was seen and is not settled.
    seen: BTreeSet<Item>,
    everybodys: BTreeSet<Item>,
    /// By whom it is shown to.
    others: BTreeMap<Arc<str>, BTreeSet<Item>>,
}

impl Sights {
    /// Everybody, or whom `to` stands for, is shown these now, none of which counts.
    pub(super) fn sees(&mut self, to: Option<&Arc<str>>, now: BTreeSet<Item>) {
        self.seen.extend(now.iter().cloned());
        let Some(to) = to else {
            self.everybodys = now;
            return;
        };
        self.others.insert(to.clone(), now);
        while self.others.len() > VIEWS {
            self.others.pop_first();
        }
    }

    /// Whom this stands for is shown what everybody is.
    pub(super) fn leaves(&mut self, to: &str) {
        self.others.remove(to);
    }

    /// What of an upstream waits in the file and is shown to nobody any more, as far as this process has to say that. With
    /// `everybodys` it knows what everybody is shown.
    pub(super) fn gone(
        &self,
        lock: &Lock,
        (connector, upstream): (&str, &str),
        everybodys: bool,
    ) -> BTreeSet<Item> {
        let begins = everybodys && !self.began;
        let own = |key: &Key| *key.connector == *connector && *key.upstream == *upstream;
        let waiting = lock.waiting.iter().filter(|(key, _)| own(key));
        let items = waiting
            .flat_map(|(key, all)| all.iter().map(move |one| (key.clone(), one.digest.clone())));
        items.filter(|one| (begins || self.seen.contains(one)) && !self.is_shown(one)).collect()
    }

    /// It was written down that nothing waits but what is shown.
    pub(super) fn settled(&mut self, everybodys: bool) {
        self.began |= everybodys;
        let gone: Vec<Item> = self.seen.iter().filter(|one| !self.is_shown(one)).cloned().collect();
        for one in gone {
            self.seen.remove(&one);
        }
    }

    fn is_shown(&self, item: &Item) -> bool {
        self.everybodys.contains(item) || self.others.values().any(|shown| shown.contains(item))
    }
}
