//! One catalogue for each kind of clients, by their capabilities.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dashmap::DashMap;
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

/// The catalogues, by the JSON text of the capabilities as clients send it.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Kinds {
    pub(super) kept: DashMap<Arc<str>, Kept>,
}

#[derive(Clone, Debug)]
pub(super) struct Kept {
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
            *self = Self { beside, built: Arc::default(), used: self.used };
        }
        self.built.clone()
    }
}

impl Kinds {
    /// The place of the catalogue of a kind of which somebody comes, beside everybody's of this generation; none where there
    /// are too many kinds in use.
    pub(super) fn place(&self, kind: &Arc<str>, beside: u32) -> Option<Arc<OnceCell<Arc<Built>>>> {
        let now = Instant::now();
        if let Some(kept) = self.kept.get(kind)
            && kept.beside == beside
            && now.saturating_duration_since(kept.used) < NOTED
        {
            return Some(kept.built.clone());
        }
        if let Some(mut kept) = self.kept.get_mut(kind) {
            kept.used = now;
            return Some(kept.beside(beside));
        }
        // Kinds that come in the same moment may exceed the limit by their number.
        if self.kept.len() >= KINDS {
            let unused = |kept: &Kept| now.saturating_duration_since(kept.used) >= FORGET;
            self.kept.retain(|_, kept| !unused(kept));
            if self.kept.len() >= KINDS {
                return None;
            }
        }
        let kept = self.kept.entry(kind.clone());
        let kept = kept.or_insert_with(|| Kept { beside, built: Arc::default(), used: now });
        Some(kept.built.clone())
    }

    /// The kinds that another connector had, so that their clients are told what is different here.
    pub(in crate::pipeline) fn succeed(&self, before: &Self) {
        for kind in &before.kept {
            let kept = Kept { beside: u32::MAX, built: Arc::default(), used: kind.used };
            self.kept.insert(kind.key().clone(), kept);
        }
    }

    /// Every kind, and its catalogue as far as it stands beside everybody's of this generation.
    pub(in crate::pipeline) fn standings(&self, beside: u32) -> Vec<KindSees> {
        let kept = self.kept.iter();
        kept.map(|kind| {
            let built = kind.built.get().filter(|_| kind.beside == beside);
            let sees = match built {
                None => Sees::Making,
                Some(built) if built.everybodys => Sees::Everybodys,
                Some(built) => Sees::Own(built.view.catalogue().clone()),
            };
            KindSees { kind: kind.key().clone(), sees }
        })
        .collect()
    }
}
