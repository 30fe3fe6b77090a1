//! Who gets which child, and how many there may be.

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, interval, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::child::{Child, Means, Spec};
use super::opening::Opening;
use crate::pipeline::party::{Party, PartyId};
use crate::protocol::Era;
use crate::upstream::authored::Hello;
use crate::upstream::era::EraCell;
use crate::upstream::failure::Failure;
use crate::upstream::limits::{CHILD_GRACE, SUPERVISOR_GRACE};
use crate::upstream::renew;
use crate::upstream::sessions::Sessions;
use crate::upstream::settings::{Asks, Settings, Sharing};
use crate::upstream::slot::Slot;
use crate::upstream::status::Status;
use crate::upstream::wishes::Wishes;

/// All children of one upstream.
#[derive(Debug)]
pub(in crate::upstream) struct Children {
    pub(super) spec: Arc<Spec>,
    pub(super) era: Arc<EraCell>,
    pub(super) sharing: Sharing,
    permits: Arc<Semaphore>,
    parties: Sessions<Child>,
    /// Replaced when the operator takes the upstream out.
    shared: ArcSwap<Slot<Child>>,
    /// Started and introduced, and served nobody yet.
    spare: Mutex<Option<Child>>,
    spare_ready: Notify,
    /// What parties subscribed to: a child in the place of another is told.
    wishes: Arc<Wishes>,
}

impl Children {
    pub(in crate::upstream) fn new(
        (status, wishes): (Arc<Status>, Arc<Wishes>),
        means: Means,
        settings: &Settings,
        tracker: &TaskTracker,
    ) -> Self {
        let (limits, sharing) = (settings.limits.clone(), settings.sharing);
        let asks = if sharing == Sharing::Connector { Asks::NOTHING } else { settings.asks };
        let name = Arc::clone(status.name());
        let permits = Arc::new(Semaphore::new(limits.children));
        let parties = Sessions::new(limits.sessions);
        let spec = Spec { name, means, asks, limits, status, tracker: tracker.clone() };
        Self {
            spec: Arc::new(spec),
            era: Arc::new(EraCell::new()),
            sharing,
            permits,
            parties,
            shared: ArcSwap::from_pointee(Slot::new()),
            spare: Mutex::new(None),
            spare_ready: Notify::new(),
            wishes,
        }
    }

    /// Which eras the server speaks.
    pub(in crate::upstream) fn era(&self) -> Arc<EraCell> {
        Arc::clone(&self.era)
    }

    /// The child of a party, started at its first call. `opening` says how one is introduced.
    pub(super) async fn of_party(
        &self,
        party: &Arc<Party>,
        opening: Opening,
    ) -> Result<(Arc<Slot<Child>>, Arc<Child>), Failure> {
        let limits = &self.spec.limits;
        let slot = self.parties.slot(party.id);
        let slot = slot.ok_or_else(|| Failure::sessions(&self.spec.name, limits.sessions))?;
        if let Some(child) = living(&slot) {
            return Ok((slot, child));
        }
        let open = || {
            let permit = self.permit();
            let (spec, party) = (Arc::clone(&self.spec), Arc::clone(party));
            let uris = self.wishes.of(party.id);
            async move {
                let served = Some(Arc::clone(&party));
                let child = Child::start(spec, opening, served, permit.await?).await?;
                if child.era == Era::Legacy {
                    renew::whole(&child, &party, uris).await;
                }
                Ok(child)
            }
        };
        let child = slot.acquire(&self.spec.tracker, open).await?;
        Ok((slot, child))
    }

    /// The one child for everybody.
    pub(super) async fn shared(&self) -> Result<(Arc<Slot<Child>>, Arc<Child>), Failure> {
        let slot = self.shared.load_full();
        if let Some(child) = living(&slot) {
            return Ok((slot, child));
        }
        let child = slot.acquire(&self.spec.tracker, || self.own()).await?;
        Ok((slot, child))
    }

    /// A child that belongs to plugway itself.
    pub(super) fn own(&self) -> impl Future<Output = Result<Child, Failure>> + Send + 'static {
        let (permit, spec) = (self.permit(), Arc::clone(&self.spec));
        let permits = Arc::clone(&self.permits);
        async move {
            if let Means::Channel(_) = &spec.means {
                // HTTP+SSE is older than the modern era.
                let opening = Opening::Initialize(Hello::own());
                return Child::start(spec, opening, None, permit.await?).await;
            }
            let probe = Opening::Probe(Hello::own());
            let probed = Child::start(Arc::clone(&spec), probe, None, permit.await?).await;
            if !matches!(&probed, Err(failure) if failure.is_unreachable()) {
                return probed;
            }
            // Servers exist that end when the first thing they hear is not `initialize`.
            let permit = permits.acquire_owned().await.map_err(|_closed| Failure::stopping())?;
            let opening = Opening::Initialize(Hello::own());
            Child::start(spec, opening, None, permit).await
        }
    }

    /// A permit, if one is free, or gets free because the spare child is given up for it.
    fn permit(
        &self,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, Failure>> + Send + 'static {
        let permits = Arc::clone(&self.permits);
        let free = Arc::clone(&permits).try_acquire_owned().ok();
        let spare = if free.is_none() { self.take_spare() } else { None };
        let spec = Arc::clone(&self.spec);
        async move {
            if let Some(permit) = free {
                return Ok(permit);
            }
            let Some(spare) = spare else { return Err(spec.full()) };
            drop(spare);
            let freed = timeout(CHILD_GRACE + SUPERVISOR_GRACE, permits.acquire_owned()).await;
            freed.map_err(|_elapsed| spec.full())?.map_err(|_closed| Failure::stopping())
        }
    }

    fn take_spare(&self) -> Option<Child> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// A child that served nobody before: the spare one, or a new one as soon as there may be one more.
    pub(super) async fn fresh(self: &Arc<Self>, opening: Opening) -> Result<Arc<Child>, Failure> {
        let deadline = Instant::now() + self.spec.limits.child_wait;
        let permit = loop {
            let mut ready = pin!(self.spare_ready.notified());
            ready.as_mut().enable();
            if let Some(spare) = self.take_spare() {
                if spare.is_gone() {
                    continue;
                }
                self.refill(opening);
                return Ok(Arc::new(spare));
            }
            let permit = timeout_at(deadline, async {
                tokio::select! {
                    permit = Arc::clone(&self.permits).acquire_owned() => Some(permit),
                    () = ready => None,
                }
            });
            match permit.await {
                Ok(Some(permit)) => break permit.map_err(|_closed| Failure::stopping())?,
                Ok(None) => {}
                Err(_elapsed) => return Err(self.spec.full()),
            }
        };
        self.refill(opening.clone());
        let spec = Arc::clone(&self.spec);
        Child::start(spec, opening, None, permit).await.map(Arc::new)
    }

    /// Starts one spare child in the background, if there may be one.
    fn refill(self: &Arc<Self>, opening: Opening) {
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else { return };
        let all = Arc::clone(self);
        drop(self.spec.tracker.spawn(async move {
            let Ok(child) = Child::start(Arc::clone(&all.spec), opening, None, permit).await else {
                return;
            };
            // One is kept: a second one of the same moment goes.
            let mut place = all.spare.lock().unwrap_or_else(PoisonError::into_inner);
            if place.as_ref().is_none_or(Child::is_gone) && !all.permits.is_closed() {
                *place = Some(child);
                drop(place);
                all.spare_ready.notify_one();
            }
        }));
    }

    /// What is open for a party.
    pub(super) fn open(&self, party: PartyId) -> Option<Arc<Child>> {
        let slot = match self.sharing {
            Sharing::Connector => Some(self.shared.load_full()),
            Sharing::Session => self.parties.get(party),
        };
        slot.and_then(|slot| slot.current())
    }

    /// The party is gone.
    pub(super) async fn leave(&self, party: PartyId) {
        let slot = self.parties.remove(party);
        if let Some(child) = slot.and_then(|slot| slot.leave()) {
            child.stop().await;
        }
    }

    /// Stops children that nobody used for a while, until plugway stops.
    pub(in crate::upstream) async fn sweep(self: Arc<Self>, stop: CancellationToken) {
        let idle = self.spec.limits.child_idle;
        let mut ticks = interval((idle / 4).max(Duration::from_millis(100)));
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            // A child that somebody subscribed at has something to do, however long nobody calls it.
            for slot in self.parties.each(|party| !self.wishes.has(party)) {
                if let Some(child) = slot.current()
                    && child.retire(idle)
                {
                    slot.forget(&child);
                }
            }
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.as_ref().is_some_and(|child| child.retire(idle)) {
                *spare = None;
            }
        }
    }

    /// How many parties have a child.
    pub(super) fn open_count(&self) -> usize {
        self.parties.all().iter().filter(|slot| slot.current().is_some()).count()
    }

    /// Takes every child of the parties out; the future stops them. New ones may be started.
    pub(super) fn clear(&self) -> impl Future<Output = ()> + Send + 'static {
        let spare = self.take_spare().map(Arc::new);
        let shared = self.shared.swap(Arc::new(Slot::new())).leave();
        let parties = self.parties.drain().into_iter().filter_map(|slot| slot.leave());
        let all: Vec<Arc<Child>> = parties.chain(shared).chain(spare).collect();
        let name = Arc::clone(&self.spec.name);
        async move {
            let limit = CHILD_GRACE + SUPERVISOR_GRACE + Duration::from_secs(2);
            let stops = join_all(all.iter().map(|child| child.stop()));
            if timeout(limit, stops).await.is_err() {
                tracing::error!(upstream = &*name, "children do not end");
            }
        }
    }

    /// Ends every child for good; returns once the processes are gone.
    pub(super) async fn end(&self) {
        self.permits.close();
        self.clear().await;
    }
}

/// The child in a slot, if it still takes requests; a dead one is put away.
fn living(slot: &Slot<Child>) -> Option<Arc<Child>> {
    let child = slot.current()?;
    if child.is_gone() {
        slot.forget(&child);
        return None;
    }
    Some(child)
}

/// Waits until a child ended; never ends without one.
pub(super) async fn ended(child: Option<Arc<Child>>) {
    match child {
        Some(child) => child.ended().await,
        None => pending().await,
    }
}
