//! Several charges as one: all are taken, or none is.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::namespace::{Namespace, Value};
use crate::pipeline::port::{Charge, Exhausted};

impl Namespace {
    /// Held by whoever counts: between a look at several keys and their charges nobody else charges one. Held for
    /// microseconds, never across a wait.
    pub(super) fn counting(&self) -> MutexGuard<'_, ()> {
        self.counting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`take_all`](crate::pipeline::port::LocalState::take_all).
    pub(super) fn charge_all(
        &self,
        charges: &[Charge],
    ) -> Result<Option<(usize, Duration)>, Exhausted> {
        let _counting = self.counting();
        let waits = charges.iter().map(|charge| self.wait(charge)).enumerate();
        let longest = waits.filter(|(_, wait)| !wait.is_zero()).max_by_key(|(_, wait)| *wait);
        if longest.is_some() {
            return Ok(longest);
        }
        for (place, charge) in charges.iter().enumerate() {
            let charged = match charge.burst {
                None => self.take_counting(&charge.key, charge.cost, charge.limit, charge.window),
                Some(burst) => self.draw_counting(&charge.key, charge.cost, charge.limit, burst),
            };
            // Time has only freed room since the look; but there may be no room for a new key.
            if let Err(Exhausted) = charged {
                for taken in charges.iter().take(place) {
                    self.give_back(taken);
                }
                return Err(Exhausted);
            }
        }
        Ok(None)
    }

    /// How long a charge would have to wait; a key that is not there yet is not made.
    fn wait(&self, charge: &Charge) -> Duration {
        let now = Instant::now();
        let mut record = self.keys.get_mut(&*charge.key);
        match (record.as_mut().map(|record| &mut record.value), charge.burst) {
            (Some(Value::Window(own)), None) => {
                own.wait(now, charge.cost, charge.limit, charge.window)
            }
            (Some(Value::Bucket { bucket, .. }), Some(burst)) => {
                bucket.wait(now, charge.cost, charge.limit, burst)
            }
            (_, None) if charge.cost > charge.limit => charge.window.max(Duration::from_millis(1)),
            (_, Some(burst)) if charge.cost > burst => Duration::from_mins(1),
            _ => Duration::ZERO,
        }
    }

    fn give_back(&self, charge: &Charge) {
        let Some(mut record) = self.keys.get_mut(&*charge.key) else { return };
        match (&mut record.value, charge.burst) {
            (Value::Window(own), None) => own.give_back(charge.cost),
            (Value::Bucket { bucket, .. }, Some(burst)) => bucket.give_back(charge.cost, burst),
            _ => {}
        }
    }
}
