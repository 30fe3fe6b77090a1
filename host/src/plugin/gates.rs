//! The breakers of a plugin in its place: one for the answers that it writes itself, one for everything else. Whoever makes
//! a router's own tools run out of time does not keep it from saying where other calls go.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::breaker::{Breaker, Leave, Who};
use super::limits::Hook;

/// Both breakers.
#[derive(Debug, Default)]
pub(super) struct Gates([Gate; 2]);

/// A breaker behind its lock.
#[derive(Debug, Default)]
struct Gate {
    breaker: Mutex<Breaker>,
    /// Whether the breaker does not let everybody through; spares the lock.
    aside: AtomicBool,
}

/// What a change of a breaker did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The plugin is put aside now.
    Aside,
    /// It is back.
    Back,
}

impl Gates {
    /// Whether a caller may ask this hook now; the error says how long to wait.
    pub(super) fn ask(
        &self,
        hook: Hook,
        now: Instant,
        who: Who,
    ) -> (Result<Leave, Duration>, Option<Turn>) {
        if !self.of(hook).aside.load(Relaxed) {
            return (Ok(Leave::Normal), None);
        }
        self.change(hook, |breaker| breaker.ask(now, who))
    }

    /// Changes the breaker of a hook.
    pub(super) fn change<T>(
        &self,
        hook: Hook,
        act: impl FnOnce(&mut Breaker) -> T,
    ) -> (T, Option<Turn>) {
        let gate = self.of(hook);
        let mut breaker = gate.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        let was = breaker.closed();
        let given = act(&mut breaker);
        let closed = breaker.closed();
        gate.aside.store(!closed, Relaxed);
        drop(breaker);
        let turn = match (was, closed) {
            (true, false) => Some(Turn::Aside),
            (false, true) => Some(Turn::Back),
            _ => None,
        };
        (given, turn)
    }

    /// Whether the plugin is put aside, for its own answers or for everything else.
    pub(super) fn aside(&self) -> bool {
        self.0.iter().any(|gate| gate.aside.load(Relaxed))
    }

    fn of(&self, hook: Hook) -> &Gate {
        let [others, answers] = &self.0;
        if hook == Hook::Answer { answers } else { others }
    }
}
