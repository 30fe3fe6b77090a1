//! The places of children, of which there are so many.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The place of one child, free again once it has ended.
#[derive(Debug)]
pub(super) struct Place {
    _child: OwnedSemaphorePermit,
    /// The turn of one that only reads.
    _turn: Option<OwnedSemaphorePermit>,
}

impl From<OwnedSemaphorePermit> for Place {
    fn from(child: OwnedSemaphorePermit) -> Self {
        Self { _child: child, _turn: None }
    }
}

/// The turns of children that only read what others are offered: one at a time, and it gives way to whoever needs its place.
#[derive(Debug)]
pub(super) struct Turns {
    free: Arc<Semaphore>,
    /// Ends the reading whose turn it is.
    end: Mutex<CancellationToken>,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(1)), end: Mutex::default() }
    }

    /// Waits for a turn, then takes a place if one is free. The token is cancelled when somebody needs it; none where all
    /// are taken, or there are none any more.
    pub(super) async fn take(&self, places: &Arc<Semaphore>) -> Option<(Place, CancellationToken)> {
        let turn = Arc::clone(&self.free).acquire_owned().await.ok()?;
        let child = Arc::clone(places).try_acquire_owned().ok()?;
        let end = CancellationToken::new();
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end.clone();
        Some((Place { _child: child, _turn: Some(turn) }, end))
    }

    /// Ends the reading that goes on; says whether a place gets free by that, or because one ends anyway.
    pub(super) fn give_way(&self) -> bool {
        if self.free.available_permits() > 0 {
            return false;
        }
        self.end.lock().unwrap_or_else(PoisonError::into_inner).cancel();
        true
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn one_reads_at_a_time_and_gives_way() {
        let (turns, places) = (Turns::new(), Arc::new(Semaphore::new(2)));
        assert!(!turns.give_way());
        let (place, end) = turns.take(&places).await.unwrap();
        assert!(turns.take(&places).now_or_never().is_none(), "it waits for its turn");
        assert!(!end.is_cancelled() && turns.give_way() && end.is_cancelled());
        drop(place);
        assert!(!turns.give_way());
        let others: Vec<_> = (0..2).map(|_| Arc::clone(&places).try_acquire_owned()).collect();
        assert!(turns.take(&places).await.is_none(), "all places are taken");
        drop(others);
        let (_place, end) = turns.take(&places).await.unwrap();
        assert!(!end.is_cancelled());
    }
}
