//! Makes the catalogues of kinds of clients.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use http::HeaderValue;
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;

use super::kinds::{Kept, Kind, LONGEST};
use crate::catalogue::{Catalogue, View};
use crate::pipeline::connector::Connector;
use crate::pipeline::party::PartyId;
use crate::pipeline::port::{Audience, Lender, Listener, Offering, Variant};
use crate::pipeline::shaping::shape_for;
use crate::pipeline::viewer::Viewer;

/// How long a client waits for what servers offer to its like, the first time that anybody of its like comes. Then it sees
/// what they offer everybody, and is told once that is known to differ.
pub(in crate::pipeline) const WAIT: Duration = Duration::from_secs(2);

/// Kinds whose catalogues are made anew at once.
const AT_ONCE: usize = 16;

/// A catalogue, and what it was made of.
#[derive(Debug)]
pub(in crate::pipeline) struct Built {
    pub(in crate::pipeline) view: Arc<View>,
    /// For each upstream, what it offers to this kind; none where that is what it offers everybody.
    pub(in crate::pipeline) offerings: Vec<Option<Arc<Offering>>>,
    /// Whether the view is everybody's.
    pub(in crate::pipeline) everybodys: bool,
    /// What one caller does not see, and why.
    pub(super) unseen: Option<Unseen>,
}

/// Servers show a caller nothing.
#[derive(Debug)]
pub(super) struct Unseen {
    /// When they were asked.
    pub(super) since: Instant,
    /// Why, one sentence for each of those that said so.
    pub(super) why: Vec<Arc<str>>,
}

/// What servers offer to a kind.
pub(super) struct Offered {
    /// For each upstream; none where that is what it offers everybody, as far as is known in time.
    pub(super) offerings: Vec<Option<Arc<Offering>>>,
    pub(super) unseen: Option<Unseen>,
}

impl Connector {
    /// What everybody like this viewer is shown before a policy hides anything, and what it was made of. None says that it is
    /// what everybody is shown.
    pub(in crate::pipeline) async fn built(&self, viewer: Viewer<'_>) -> Option<Arc<Built>> {
        let kind = viewer.capabilities.filter(|kind| self.varies && kind.len() <= LONGEST);
        let kind = kind.filter(|kind| &***kind != "{}");
        if kind.is_none() && !self.lends() {
            return None;
        }
        let everybodys = self.views.whole();
        if everybodys.catalogue().is_veiled()
            && let Some(lender) = viewer.lender()
        {
            return Some(Box::pin(self.built_for(viewer, lender, everybodys)).await);
        }
        let kind = kind?;
        let place = self.kinds.place(kind, everybodys.catalogue().generation)?;
        if let Some(built) = place.get() {
            return Some(built.clone());
        }
        // Rare and large: what every call goes through stays small.
        Some(Box::pin(self.fill(&place, (&Kind::of(kind), None), &everybodys)).await)
    }

    /// However many come at once, it is made once.
    pub(super) async fn fill(
        &self,
        place: &OnceCell<Arc<Built>>,
        (kind, credential): (&Kind, Option<&HeaderValue>),
        everybodys: &Arc<View>,
    ) -> Arc<Built> {
        let built = place.get_or_init(|| async {
            let offered = self.offered(kind, credential).await;
            let built = self.build(offered, everybodys).await;
            let own = (!built.everybodys).then(|| built.view.catalogue().clone());
            self.announced.first_seen(&kind.key, own);
            built
        });
        built.await.clone()
    }

    /// What upstreams offer to clients of a kind.
    async fn offered(&self, kind: &Kind, credential: Option<&HeaderValue>) -> Offered {
        let all = self.upstreams.iter().map(|served| async {
            let capabilities = &*kind.capabilities;
            let asked = match &kind.lender {
                None => served.upstream.variant(capabilities),
                Some(caller) => {
                    served.upstream.variant_of(capabilities, Lender { caller, credential })
                }
            };
            timeout(self.patience, asked).await
        });
        let (mut offerings, mut why, mut late) = (Vec::new(), Vec::new(), false);
        for offered in join_all(all).await {
            late |= offered.is_err();
            offerings.push(match offered {
                Ok(Variant::Own(offering)) => Some(offering),
                Ok(Variant::Unseen(sentence)) => {
                    why.push(sentence);
                    None
                }
                Ok(Variant::Everybodys) | Err(_) => None,
            });
        }
        let lacks = kind.lender.is_some() && (late || !why.is_empty());
        Offered { offerings, unseen: lacks.then(|| Unseen { since: Instant::now(), why }) }
    }

    async fn build(&self, offered: Offered, everybodys: &Arc<View>) -> Arc<Built> {
        let Offered { offerings, unseen } = offered;
        let mut own = None;
        if offerings.iter().any(Option::is_some) {
            own = shape_for(self, &offerings).await;
        }
        let view = own.map(|catalogue: Catalogue| Arc::new(View::whole(Arc::new(catalogue))));
        let is_everybodys = view.is_none();
        let view = view.unwrap_or_else(|| everybodys.clone());
        Arc::new(Built { view, offerings, everybodys: is_everybodys, unseen })
    }

    /// Makes every kind's catalogue anew that is not what servers offer it now.
    pub(super) async fn renew_kinds(&self, audience: &dyn Audience) {
        let listeners = audience.listeners(&self.name).into_iter();
        let heard: HashSet<Arc<str>> = listeners.flat_map(|one| self.keys_of(&one)).collect();
        self.kinds.forget(Instant::now(), |key| heard.contains(key));
        let renewed = stream::iter(self.kinds.all());
        renewed.for_each_concurrent(AT_ONCE, |(_, kept)| self.renew(kept)).await;
    }

    /// What may stand for the kind of a listener: its own as a caller comes first.
    pub(in crate::pipeline) fn keys_of(
        &self,
        listener: &Listener,
    ) -> impl Iterator<Item = Arc<str>> + use<> {
        let capabilities = listener.capabilities.as_ref();
        let lender = listener.caller.lender().filter(|_| self.lends());
        let own = lender.map(|lender| Kind::lent(lender.clone(), capabilities).key);
        own.into_iter().chain(capabilities.cloned())
    }

    /// Makes the catalogue of a kind anew, where it is not what servers offer it now.
    pub(super) async fn renew(&self, kept: Kept) {
        // Who made room for others meanwhile is not asked for.
        let Some(kept) = self.kinds.get(&kept.kind.key) else { return };
        let everybodys = self.views.whole();
        let beside = everybodys.catalogue().generation;
        let (kind, credential) = (&kept.kind, kept.credential.as_ref());
        let Some(known) = kept.built.get().filter(|_| kept.beside == beside) else {
            if let Some(place) = self.kinds.beside(&kind.key, beside) {
                drop(self.fill(&place, (kind, credential), &everybodys).await);
            }
            return;
        };
        let offered = self.offered(kind, credential).await;
        let built = if known.offerings == offered.offerings {
            if known.unseen.is_none() && offered.unseen.is_none() {
                return;
            }
            let (view, offerings) = (known.view.clone(), known.offerings.clone());
            let (everybodys, unseen) = (known.everybodys, offered.unseen);
            Arc::new(Built { view, offerings, everybodys, unseen })
        } else {
            self.build(offered, &everybodys).await
        };
        self.kinds.replace(&kind.key, beside, built);
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
        if connector.kinds.is_empty() {
            continue;
        }
        connector.renew_kinds(audience).await;
        // What everybody sees is the same as before: the mark stays.
        changed.send_modify(|_mark| {});
    }
}
