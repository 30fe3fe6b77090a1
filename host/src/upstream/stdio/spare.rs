//! Children for one request each, of nobody in particular, one of which is kept in reserve.

use std::pin::pin;
use std::sync::{Arc, PoisonError};

use tokio::time::{Instant, timeout, timeout_at};

use super::child::{Child, Serves};
use super::children::Children;
use super::opening::Opening;
use super::places::Place;
use crate::upstream::authored::Hello;
use crate::upstream::failure::Failure;

impl Children {
    pub(super) fn take_spare(&self) -> Option<Child> {
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
            self.make_way();
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
        Child::start(spec, opening, Serves::Anybody, permit.into()).await.map(Arc::new)
    }

    /// The same for a client to whose capabilities the server offers something else: none is kept in reserve for it.
    pub(super) async fn fresh_as(&self, hello: Hello) -> Result<Arc<Child>, Failure> {
        if self.permits.available_permits() == 0 && !self.make_way() {
            drop(self.take_spare());
        }
        let permit = Arc::clone(&self.permits).acquire_owned();
        let permit = timeout(self.spec.limits.child_wait, permit).await;
        let permit = permit.map_err(|_elapsed| self.spec.full())?;
        let place = permit.map(Place::from).map_err(|_closed| Failure::stopping())?;
        let (spec, opening) = (Arc::clone(&self.spec), Opening::Initialize(hello));
        Child::start(spec, opening, Serves::Anybody, place).await.map(Arc::new)
    }

    /// Whoever needs a place where all are taken comes before one that only reads; says whether there is such a one.
    fn make_way(&self) -> bool {
        self.permits.available_permits() == 0 && self.turns.give_way()
    }

    /// Starts one spare child in the background, if there may be one.
    fn refill(self: &Arc<Self>, opening: Opening) {
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else { return };
        let all = Arc::clone(self);
        drop(self.spec.tracker.spawn(async move {
            let started =
                Child::start(Arc::clone(&all.spec), opening, Serves::Anybody, permit.into());
            let Ok(child) = started.await else { return };
            // One is kept: a second one of the same moment goes.
            let mut place = all.spare.lock().unwrap_or_else(PoisonError::into_inner);
            if place.as_ref().is_none_or(Child::is_gone) && !all.permits.is_closed() {
                *place = Some(child);
                drop(place);
                all.spare_ready.notify_one();
            }
        }));
    }
}
