//! One catalogue for each kind of clients, by their capabilities.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dashmap::DashMap;
use http::HeaderValue;
use tokio::sync::OnceCell;

use super::build::Built;
use crate::pipeline::announced::{KindSees, Sees};

/// Kinds of clients, by their capabilities, for which a connector keeps a catalogue.
pub(super) const KINDS: usize = 32;
/// A kind of which nobody came for so long, and of which nobody listens, is forgotten.
pub(super) const FORGET: Duration = Duration::from_mins(10);
/// That a kind is in use is noted so often, so that calls do not wait for each other.
const NOTED: Duration = Duration::from_secs(1);
/// Longest capabilities that make a kind of their own.
pub(super) const LONGEST: usize = 16 * 1024;

/// Callers for each of whom a connector keeps a catalogue, where servers say what they offer to callers only.
pub(super) const CALLERS: usize = 256;

/// Clients of like capabilities; of one caller only, where servers say what they offer to callers only.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Kind {
    /// Stands for it: the JSON text of the capabilities as clients send it, with the caller before it where there is one.
    pub(in crate::pipeline) key: Arc<str>,
    pub(super) capabilities: Arc<str>,
    pub(super) lender: Option<Arc<str>>,
}

impl Kind {
    pub(super) fn of(capabilities: &Arc<str>) -> Self {
        let (key, capabilities) = (capabilities.clone(), capabilities.clone());
        Self { key, capabilities, lender: None }
    }

    /// Clients of one caller. Those with too long capabilities count as such without any.
    pub(in crate::pipeline) fn lent(lender: Arc<str>, capabilities: Option<&Arc<str>>) -> Self {
        let capabilities = capabilities.filter(|text| text.len() <= LONGEST);
        let capabilities = capabilities.cloned().unwrap_or_else(|| "{}".into());
        // No JSON text has this letter in it.
        let key = format!("{lender}\0{capabilities}").into();
        Self { key, capabilities, lender: Some(lender) }
    }
}

/// The catalogues, by what stands for their kind.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Kinds {
    alike: DashMap<Arc<str>, Kept>,
    lent: DashMap<Arc<str>, Kept>,
}

#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) kind: Kind,
    /// What its caller came with last.
    pub(super) credential: Option<HeaderValue>,
    /// The generation of everybody's catalogue that this stands beside; beside another one it has to be made anew.
    pub(super) beside: u32,
    pub(super) built: Arc<OnceCell<Arc<Built>>>,
    /// When somebody of the kind came.
    pub(super) used: Instant,
}

impl Kept {
    /// Its place beside everybody's catalogue of this generation.
    pub(super) fn beside(&mut self, beside: u32) -> Arc<OnceCell<Arc<Built>>> {
        if self.beside != beside {
            self.beside = beside;
            self.built = Arc::default();
        }
        self.built.clone()
    }

    /// Whether some server shows its caller nothing.
    fn is_refused(&self) -> bool {
        self.built.get().is_some_and(|built| built.unseen.is_some())
    }

    fn new(kind: Kind, beside: u32, used: Instant) -> Self {
        Self { kind, credential: None, beside, built: Arc::default(), used }
    }
}

impl Kinds {
    /// Whether nobody of any kind came.
    pub(super) fn is_empty(&self) -> bool {
        self.alike.is_empty() && self.lent.is_empty()
    }

    /// The place of the catalogue of a kind of which somebody comes, beside everybody's of this generation; none where there
    /// are too many kinds in use.
    pub(super) fn place(&self, kind: &Arc<str>, beside: u32) -> Option<Arc<OnceCell<Arc<Built>>>> {
        let now = Instant::now();
        if let Some(kept) = self.alike.get(kind)
            && kept.beside == beside
            && now.saturating_duration_since(kept.used) < NOTED
        {
            return Some(kept.built.clone());
        }
        if let Some(mut kept) = self.alike.get_mut(kind) {
            kept.used = now;
            return Some(kept.beside(beside));
        }
        // Kinds that come in the same moment may exceed the limit by their number.
        if self.alike.len() >= KINDS {
            let unused = |kept: &Kept| now.saturating_duration_since(kept.used) >= FORGET;
            self.alike.retain(|_, kept| !unused(kept));
            if self.alike.len() >= KINDS {
                return None;
            }
        }
        let kept = self.alike.entry(kind.clone());
        let kept = kept.or_insert_with(|| Kept::new(Kind::of(kind), beside, now));
        Some(kept.built.clone())
    }

    /// The same for one caller, who comes with this credential: whether it is another one than before, too. Who did not come
    /// the longest makes room, of those who are refused first.
    pub(super) fn place_of(
        &self,
        kind: &Kind,
        credential: Option<&HeaderValue>,
        beside: u32,
    ) -> (Arc<OnceCell<Arc<Built>>>, bool) {
        let now = Instant::now();
        if !self.lent.contains_key(&kind.key) && self.lent.len() >= CALLERS {
            let last = self.lent.iter().min_by_key(|kept| (!kept.is_refused(), kept.used));
            let last = last.map(|kept| kept.key().clone());
            // Callers that come in the same moment may exceed the limit by their number.
            last.and_then(|last| self.lent.remove(&last));
        }
        let kept = self.lent.entry(kind.key.clone());
        let mut kept = kept.or_insert_with(|| Kept::new(kind.clone(), beside, now));
        kept.used = now;
        let is_other = credential.is_some() && kept.credential.as_ref() != credential;
        if is_other {
            kept.credential = credential.cloned();
        }
        (kept.beside(beside), is_other)
    }

    /// What is kept of a kind.
    pub(super) fn get(&self, key: &str) -> Option<Kept> {
        let kept = self.alike.get(key).or_else(|| self.lent.get(key));
        kept.map(|kept| kept.value().clone())
    }

    /// The place of a kind beside everybody's catalogue of this generation; none where the kind was forgotten.
    pub(super) fn beside(&self, key: &str, beside: u32) -> Option<Arc<OnceCell<Arc<Built>>>> {
        let kept = self.alike.get_mut(key).or_else(|| self.lent.get_mut(key));
        kept.map(|mut kept| kept.beside(beside))
    }

    /// Puts another catalogue in its place, unless everybody's is of another generation meanwhile.
    pub(super) fn replace(&self, key: &str, beside: u32, built: Arc<Built>) {
        let kept = self.alike.get_mut(key).or_else(|| self.lent.get_mut(key));
        if let Some(mut kept) = kept.filter(|kept| kept.beside == beside) {
            kept.built = Arc::new(OnceCell::new_with(Some(built)));
        }
    }

    /// Forgets kinds of which nobody came for long, but for those that this is true for.
    pub(super) fn forget(&self, now: Instant, heard: impl Fn(&Arc<str>) -> bool) {
        for kept in [&self.alike, &self.lent] {
            kept.retain(|key, kept| {
                heard(key) || now.saturating_duration_since(kept.used) < FORGET
            });
        }
    }

    /// Every kind.
    pub(super) fn all(&self) -> Vec<(Arc<str>, Kept)> {
        let all = self.alike.iter().chain(self.lent.iter());
        all.map(|kind| (kind.key().clone(), kind.value().clone())).collect()
    }

    /// How many callers have a catalogue of their own.
    #[cfg(test)]
    pub(super) fn callers(&self) -> usize {
        self.lent.len()
    }

    /// The kinds that another connector had, so that their clients are told what is different here.
    pub(in crate::pipeline) fn succeed(&self, before: &Self) {
        for (own, others) in [(&self.alike, &before.alike), (&self.lent, &before.lent)] {
            for kind in others {
                let kept = Kept { beside: u32::MAX, built: Arc::default(), ..kind.clone() };
                own.insert(kind.key().clone(), kept);
            }
        }
    }

    /// Every kind, and its catalogue as far as it stands beside everybody's of this generation.
    pub(in crate::pipeline) fn standings(&self, beside: u32) -> Vec<KindSees> {
        let all = self.all().into_iter();
        all.map(|(kind, kept)| {
            let built = kept.built.get().filter(|_| kept.beside == beside);
            let sees = match built {
                None => Sees::Making,
                Some(built) if built.everybodys => Sees::Everybodys,
                Some(built) => Sees::Own(built.view.catalogue().clone()),
            };
            KindSees { kind, sees }
        })
        .collect()
    }
}
