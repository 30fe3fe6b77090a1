//! Catalogues for clients with capabilities of their own: a server may offer them something else than plugway itself
//! (docs/decisions/0018).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dashmap::DashMap;
use futures_util::future::join_all;
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;

use super::announced::Standing;
use super::connector::Connector;
use super::party::PartyId;
use super::port::{Audience, Offering, Variant};
use super::shaping::shape_for;
use crate::catalogue::{Catalogue, View};

/// How long a client waits for what servers offer to its like, the first time that anybody of its like comes. Then it sees
/// what they offer everybody, and is told once that is known to differ.
const WAIT: Duration = Duration::from_secs(2);
/// Kinds of clients, by their capabilities, for which a connector keeps a catalogue.
const KINDS: usize = 32;
/// A kind of which nobody came for so long, and of which nobody listens, is forgotten.
const FORGET: Duration = Duration::from_mins(10);
/// That a kind is in use is noted so often, so that calls do not wait for each other.
const NOTED: Duration = Duration::from_secs(1);
/// Longest capabilities that make a kind of their own.
const LONGEST: usize = 16 * 1024;

/// The catalogues, by the JSON text of the capabilities as clients send it.
#[derive(Debug, Default)]
pub(super) struct Variants {
    kept: DashMap<Arc<str>, Kept>,
}

#[derive(Clone, Debug)]
struct Kept {
    /// The generation of everybody's catalogue that this stands beside; beside another one it has to be made anew.
    beside: u32,
    built: Arc<OnceCell<Arc<Built>>>,
    used: Instant,
}

/// A catalogue, and what it was made of.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) view: Arc<View>,
    /// For each upstream, what it offers to this kind; none where that is what it offers everybody.
    pub(super) offerings: Vec<Option<Arc<Offering>>>,
    /// Whether the view is everybody's.
    pub(super) everybodys: bool,
}

impl Variants {
    /// The place of a kind's catalogue beside everybody's of this generation; none where there are too many kinds in use.
    fn place(&self, kind: &Arc<str>, beside: u32) -> Option<Arc<OnceCell<Arc<Built>>>> {
        let now = Instant::now();
        if let Some(kept) = self.kept.get(kind)
            && kept.beside == beside
            && now.saturating_duration_since(kept.used) < NOTED
        {
            return Some(kept.built.clone());
        }
        if let Some(mut kept) = self.kept.get_mut(kind) {
            kept.used = now;
            if kept.beside != beside {
                *kept = Kept { beside, built: Arc::default(), used: now };
            }
            return Some(kept.built.clone());
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
    pub(super) fn succeed(&self, before: &Self) {
        for kind in &before.kept {
            let kept = Kept { beside: u32::MAX, built: Arc::default(), used: kind.used };
            self.kept.insert(kind.key().clone(), kept);
        }
    }

    /// Every kind, and its catalogue as far as it stands beside everybody's of this generation.
    pub(super) fn standings(&self, beside: u32) -> Vec<Standing> {
        let kept = self.kept.iter();
        kept.map(|kind| {
            let built = kind.built.get().filter(|_| kind.beside == beside);
            let catalogue =
                built.map(|built| (!built.everybodys).then(|| built.view.catalogue().clone()));
            Standing { kind: kind.key().clone(), catalogue }
        })
        .collect()
    }
}

impl Connector {
    /// What everybody with these capabilities is shown before a policy hides anything, and what it was made of. None says
    /// that it is what everybody is shown.
    pub(super) async fn built(&self, capabilities: Option<&Arc<str>>) -> Option<Arc<Built>> {
        let kind = capabilities.filter(|kind| self.varies && kind.len() <= LONGEST)?;
        if &**kind == "{}" {
            return None;
        }
        let everybodys = self.views.whole();
        let place = self.variants.place(kind, everybodys.catalogue().generation)?;
        if let Some(built) = place.get() {
            return Some(built.clone());
        }
        let built = place.get_or_init(|| {
            // Rare and large: what every call goes through stays small.
            Box::pin(async {
                let offerings = self.offerings(kind).await;
                let built = self.build(offerings, &everybodys).await;
                let own = (!built.everybodys).then(|| built.view.catalogue().clone());
                self.announced.first_seen(kind, own);
                built
            })
        });
        Some(built.await.clone())
    }

    /// For each upstream, what it offers to clients of a kind; none where that is what it offers everybody, as far as is
    /// known in time.
    async fn offerings(&self, kind: &str) -> Vec<Option<Arc<Offering>>> {
        let all = self.upstreams.iter().map(|served| async {
            match timeout(WAIT, served.upstream.variant(kind)).await {
                Ok(Variant::Own(offering)) => Some(offering),
                Ok(Variant::Everybodys) | Err(_) => None,
            }
        });
        join_all(all).await
    }

    async fn build(
        &self,
        offerings: Vec<Option<Arc<Offering>>>,
        everybodys: &Arc<View>,
    ) -> Arc<Built> {
        let mut own = None;
        if offerings.iter().any(Option::is_some) {
            own = shape_for(self, &offerings).await;
        }
        let view = own.map(|catalogue: Catalogue| Arc::new(View::whole(Arc::new(catalogue))));
        let is_everybodys = view.is_none();
        let view = view.unwrap_or_else(|| everybodys.clone());
        Arc::new(Built { view, offerings, everybodys: is_everybodys })
    }

    /// Makes every kind's catalogue anew that is not what servers offer it now.
    async fn renew_variants(&self, audience: &dyn Audience) {
        let listeners = audience.listeners(&self.name).into_iter();
        let heard: HashSet<Arc<str>> =
            listeners.filter_map(|listener| listener.capabilities).collect();
        let now = Instant::now();
        self.variants.kept.retain(|kind, kept| {
            heard.contains(kind) || now.saturating_duration_since(kept.used) < FORGET
        });
        let kinds = self.variants.kept.iter();
        let kinds: Vec<(Arc<str>, Kept)> =
            kinds.map(|kind| (kind.key().clone(), kind.value().clone())).collect();
        join_all(kinds.into_iter().map(|(kind, kept)| self.renew(kind, kept))).await;
    }

    async fn renew(&self, kind: Arc<str>, kept: Kept) {
        let everybodys = self.views.whole();
        let beside = everybodys.catalogue().generation;
        let Some(known) = kept.built.get().filter(|_| kept.beside == beside) else {
            // Whoever is the first builds it.
            drop(self.built(Some(&kind)).await);
            return;
        };
        let offerings = self.offerings(&kind).await;
        if known.offerings == offerings {
            return;
        }
        let built = Arc::new(OnceCell::new_with(Some(self.build(offerings, &everybodys).await)));
        if let Some(mut kept) = self.variants.kept.get_mut(&kind)
            && kept.beside == beside
        {
            kept.built = built;
        }
    }
}

/// Keeps the catalogues of all kinds; `shaped` says that everybody's was made anew, or that servers may offer something else
/// to some. Whoever tells clients of changes is told when that is done.
pub(super) async fn keep(
    connector: &Connector,
    audience: &dyn Audience,
    mut shaped: watch::Receiver<u64>,
    changed: &watch::Sender<PartyId>,
) {
    while shaped.changed().await.is_ok() {
        shaped.mark_unchanged();
        if connector.variants.kept.is_empty() {
            continue;
        }
        connector.renew_variants(audience).await;
        // What everybody sees is the same as before: the mark stays.
        changed.send_modify(|_mark| {});
    }
}
