//! Who gets which child, and how many there may be.

use std::future::pending;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::child::{Child, Means, Serves, Spec};
use super::opening::Opening;
use super::places::{Place, Turns};
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
    pub(super) permits: Arc<Semaphore>,
    /// Of those that read what clients with other capabilities are offered.
    pub(super) turns: Turns,
    parties: Sessions<Child>,
    /// Replaced when the operator takes the upstream out.
    shared: ArcSwap<Slot<Child>>,
    /// plugway's own, over which the catalogue is read.
    reader: Mutex<Option<Arc<Child>>>,
    /// Started and introduced, and served nobody yet.
    pub(super) spare: Mutex<Option<Child>>,
    pub(super) spare_ready: Notify,
    /// What parties subscribed to: a child in the place of another is told.
    wishes: Arc<Wishes>,
    /// Nothing is read any more.
    pub(super) over: CancellationToken,
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
        let (tracker, told) = (tracker.clone(), AtomicU64::new(0));
        let spec = Spec { name, means, asks, limits, status, tracker, told };
        Self {
            spec: Arc::new(spec),
            era: Arc::new(EraCell::new()),
            sharing,
            permits,
            turns: Turns::new(),
            parties,
            shared: ArcSwap::from_pointee(Slot::new()),
            reader: Mutex::default(),
            spare: Mutex::new(None),
            spare_ready: Notify::new(),
            wishes,
            over: CancellationToken::new(),
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
                let serves = Serves::Party(Arc::clone(&party));
                let child = Child::start(spec, opening, serves, permit.await?).await?;
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
                return Child::start(spec, opening, Serves::Anybody, permit.await?).await;
            }
            let probe = Opening::Probe(Hello::own());
            let (first, place) = (Arc::clone(&spec), permit.await?);
            let probed = Child::start(first, probe, Serves::Anybody, place).await;
            if !matches!(&probed, Err(failure) if failure.is_unreachable()) {
                return probed;
            }
            // Servers exist that end when the first thing they hear is not `initialize`.
            let permit = permits.acquire_owned().await.map_err(|_closed| Failure::stopping())?;
            let opening = Opening::Initialize(Hello::own());
            Child::start(spec, opening, Serves::Anybody, permit.into()).await
        }
    }

    /// plugway's own child, while there is one.
    pub(super) fn own_child(&self) -> Option<Arc<Child>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// plugway has another one, or none; what it had before.
    pub(super) fn keep_own(&self, child: Option<Arc<Child>>) -> Option<Arc<Child>> {
        let mut place = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *place, child)
    }

    /// A place, if one is free, or gets free because the spare child is given up for it, or one that only reads.
    fn permit(&self) -> impl Future<Output = Result<Place, Failure>> + Send + 'static {
        let permits = Arc::clone(&self.permits);
        let free = Arc::clone(&permits).try_acquire_owned().ok();
        let spare = if free.is_none() { self.take_spare() } else { None };
        let gets_free = spare.is_some() || (free.is_none() && self.turns.give_way());
        let spec = Arc::clone(&self.spec);
        async move {
            if let Some(permit) = free {
                return Ok(permit.into());
            }
            if !gets_free {
                return Err(spec.full());
            }
            drop(spare);
            let freed = timeout(CHILD_GRACE + SUPERVISOR_GRACE, permits.acquire_owned()).await;
            let freed = freed.map_err(|_elapsed| spec.full())?;
            freed.map(Place::from).map_err(|_closed| Failure::stopping())
        }
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
        self.turns.give_way();
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
        self.over.cancel();
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
