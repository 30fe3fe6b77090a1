//! What begins and ends: how much of it is there now, and how much there was.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number of things that are there now, and of all that ever were.
#[derive(Debug, Default)]
pub struct Live {
    now: AtomicU64,
    ever: AtomicU64,
}

impl Live {
    /// One more is there, until the guard is dropped.
    pub fn hold(self: &Arc<Self>) -> Held {
        self.now.fetch_add(1, Relaxed);
        self.ever.fetch_add(1, Relaxed);
        Held(self.clone())
    }

    /// How many are there now.
    pub fn now(&self) -> u64 {
        self.now.load(Relaxed)
    }

    /// How many there ever were.
    pub fn ever(&self) -> u64 {
        self.ever.load(Relaxed)
    }
}

/// Counts as there while it lives.
#[derive(Debug)]
pub struct Held(Arc<Live>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_was_there_all_the_same() {
        let live = Arc::new(Live::default());
        let first = live.hold();
        drop(live.hold());
        assert_eq!((live.now(), live.ever()), (1, 2));
        drop(first);
        assert_eq!((live.now(), live.ever()), (0, 2));
    }
}
