//! Makes the catalogues of kinds of clients.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;

use super::kinds::{FORGET, Kept, LONGEST};
use crate::catalogue::{Catalogue, View};
use crate::pipeline::connector::Connector;
use crate::pipeline::party::PartyId;
use crate::pipeline::port::{Audience, Offering, Variant};
use crate::pipeline::shaping::shape_for;

/// How long a client waits for what servers offer to its like, the first time that anybody of its like comes. Then it sees
/// what they offer everybody, and is told once that is known to differ.
pub(in crate::pipeline) const WAIT: Duration = Duration::from_secs(2);

/// A catalogue, and what it was made of.
#[derive(Debug)]
pub(in crate::pipeline) struct Built {
    pub(in crate::pipeline) view: Arc<View>,
    /// For each upstream, what it offers to this kind; none where that is what it offers everybody.
    pub(in crate::pipeline) offerings: Vec<Option<Arc<Offering>>>,
    /// Whether the view is everybody's.
    pub(in crate::pipeline) everybodys: bool,
}

impl Connector {
    /// What everybody with these capabilities is shown before a policy hides anything, and what it was made of. None says
    /// that it is what everybody is shown.
    pub(in crate::pipeline) async fn built(
        &self,
        capabilities: Option<&Arc<str>>,
    ) -> Option<Arc<Built>> {
        let kind = capabilities.filter(|kind| self.varies && kind.len() <= LONGEST)?;
        if &**kind == "{}" {
            return None;
        }
        let everybodys = self.views.whole();
        let place = self.kinds.place(kind, everybodys.catalogue().generation)?;
        if let Some(built) = place.get() {
            return Some(built.clone());
        }
        // Rare and large: what every call goes through stays small.
        Some(Box::pin(self.fill(&place, kind, &everybodys)).await)
    }

    /// However many come at once, it is made once.
    async fn fill(
        &self,
        place: &OnceCell<Arc<Built>>,
        kind: &Arc<str>,
        everybodys: &Arc<View>,
    ) -> Arc<Built> {
        let built = place.get_or_init(|| async {
            let offerings = self.offerings(kind).await;
            let built = self.build(offerings, everybodys).await;
            let own = (!built.everybodys).then(|| built.view.catalogue().clone());
            self.announced.first_seen(kind, own);
            built
        });
        built.await.clone()
    }

    /// For each upstream, what it offers to clients of a kind; none where that is what it offers everybody, as far as is
    /// known in time.
    async fn offerings(&self, kind: &str) -> Vec<Option<Arc<Offering>>> {
        let all = self.upstreams.iter().map(|served| async {
            match timeout(self.patience, served.upstream.variant(kind)).await {
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
    pub(super) async fn renew_kinds(&self, audience: &dyn Audience) {
        let listeners = audience.listeners(&self.name).into_iter();
        let heard: HashSet<Arc<str>> =
            listeners.filter_map(|listener| listener.capabilities).collect();
        let now = Instant::now();
        self.kinds.kept.retain(|kind, kept| {
            heard.contains(kind) || now.saturating_duration_since(kept.used) < FORGET
        });
        let kinds = self.kinds.kept.iter();
        let kinds: Vec<(Arc<str>, Kept)> =
            kinds.map(|kind| (kind.key().clone(), kind.value().clone())).collect();
        join_all(kinds.into_iter().map(|(kind, kept)| self.renew(kind, kept))).await;
    }

    async fn renew(&self, kind: Arc<str>, kept: Kept) {
        let everybodys = self.views.whole();
        let beside = everybodys.catalogue().generation;
        let Some(known) = kept.built.get().filter(|_| kept.beside == beside) else {
            let place = self.kinds.kept.get_mut(&kind).map(|mut kept| kept.beside(beside));
            if let Some(place) = place {
                drop(self.fill(&place, &kind, &everybodys).await);
            }
            return;
        };
        let offerings = self.offerings(&kind).await;
        if known.offerings == offerings {
            return;
        }
        let built = Arc::new(OnceCell::new_with(Some(self.build(offerings, &everybodys).await)));
        if let Some(mut kept) = self.kinds.kept.get_mut(&kind)
            && kept.beside == beside
        {
            kept.built = built;
        }
    }
}

/// Keeps the catalogues of all kinds; `shaped` says that everybody's was made anew, or that servers may offer something else
/// to some. Whoever tells clients of changes is told when that is done.
pub(in crate::pipeline) async fn keep(
    connector: &Connector,
    audience: &dyn Audience,
    mut shaped: watch::Receiver<u64>,
    changed: &watch::Sender<PartyId>,
) {
    while shaped.changed().await.is_ok() {
        shaped.mark_unchanged();
        if connector.kinds.kept.is_empty() {
            continue;
        }
        connector.renew_kinds(audience).await;
        // What everybody sees is the same as before: the mark stays.
        changed.send_modify(|_mark| {});
    }
}
