//! The place of one party's session: opened by the first who needs it, awaited by the others.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::failure::Failure;

type Opened<T> = Result<Arc<T>, Failure>;

/// Holds a session (or a child process) of one party. The opening runs in a task of its own, so that a caller who
/// goes away in the middle neither breaks it for the others nor leaves a session behind that nobody knows.
#[derive(Debug)]
pub(super) struct Slot<T> {
    state: Mutex<State<T>>,
}

#[derive(Debug)]
enum State<T> {
    Empty,
    Opening(watch::Receiver<Option<Opened<T>>>),
    Open(Arc<T>),
    Left,
}

impl<T: Send + Sync + 'static> Slot<T> {
    /// Nothing is open yet.
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State::Empty) }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is open now.
    pub(super) fn current(&self) -> Option<Arc<T>> {
        match &*self.state() {
            State::Open(live) => Some(Arc::clone(live)),
            State::Empty | State::Opening(_) | State::Left => None,
        }
    }

    /// What is open; opens it when nothing is. However many ask at once, `open` runs once. What was opened for a party
    /// that left meanwhile is dropped, which closes it.
    pub(super) async fn acquire<F>(
        self: &Arc<Self>,
        tracker: &TaskTracker,
        open: impl FnOnce() -> F,
    ) -> Opened<T>
    where
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let mut waiting = {
            let mut state = self.state();
            match &*state {
                State::Open(live) => return Ok(Arc::clone(live)),
                State::Left => return Err(Failure::left()),
                State::Opening(waiting) => waiting.clone(),
                State::Empty => {
                    let (done, waiting) = watch::channel(None);
                    *state = State::Opening(waiting.clone());
                    drop(tracker.spawn(Arc::clone(self).open(open(), done)));
                    waiting
                }
            }
        };
        match waiting.wait_for(Option::is_some).await {
            Ok(opened) => (*opened).clone().unwrap_or_else(|| Err(Failure::stopping())),
            Err(_the_task_was_aborted) => Err(Failure::stopping()),
        }
    }

    async fn open<F>(self: Arc<Self>, open: F, done: watch::Sender<Option<Opened<T>>>)
    where
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let opened = open.await.map(Arc::new);
        let opened = {
            let mut state = self.state();
            match (&*state, opened) {
                (State::Left, _) => Err(Failure::left()),
                (_, Ok(live)) => {
                    *state = State::Open(Arc::clone(&live));
                    Ok(live)
                }
                (_, Err(failure)) => {
                    *state = State::Empty;
                    Err(failure)
                }
            }
        };
        done.send_replace(Some(opened));
    }

    /// Forgets what turned out to be dead, unless somebody replaced it already.
    pub(super) fn forget(&self, dead: &Arc<T>) {
        let mut state = self.state();
        if matches!(&*state, State::Open(live) if Arc::ptr_eq(live, dead)) {
            *state = State::Empty;
        }
    }

    /// The party is gone: nothing is opened any more. Gives what was open.
    pub(super) fn leave(&self) -> Option<Arc<T>> {
        match std::mem::replace(&mut *self.state(), State::Left) {
            State::Open(live) => Some(live),
            State::Empty | State::Opening(_) | State::Left => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn concurrent_first_uses_open_once_and_survive_a_lost_caller() {
        let slot = Arc::new(Slot::<usize>::new());
        let tracker = TaskTracker::new();
        let opened = Arc::new(AtomicUsize::new(0));
        let (go, gate) = watch::channel(false);
        let open = || {
            let (opened, mut gate) = (Arc::clone(&opened), gate.clone());
            async move {
                gate.wait_for(|go| *go).await.unwrap();
                Ok(opened.fetch_add(1, Ordering::SeqCst))
            }
        };
        {
            let mut first = std::pin::pin!(slot.acquire(&tracker, open));
            assert!(futures_util::poll!(&mut first).is_pending());
        }
        let others: Vec<_> = (0..3).map(|_| slot.acquire(&tracker, open)).collect();
        go.send(true).unwrap();
        for other in futures_util::future::join_all(others).await {
            assert_eq!(*other.unwrap(), 0);
        }
        let live = slot.current().unwrap();
        slot.forget(&live);
        assert_eq!(*slot.acquire(&tracker, open).await.unwrap(), 1);
        slot.forget(&live);
        assert_eq!(
            **slot.current().as_ref().unwrap(),
            1,
            "an old failure does not end a new session"
        );
        slot.leave();
        assert!(slot.acquire(&tracker, open).await.is_err());
    }
}
