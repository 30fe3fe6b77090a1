//! `state`: what outlives instances, in this process.

use std::time::Duration;

use plugway_bindings::imports::state::{Charge as Given, Host};
use wasmtime::{Result, bail};

use crate::pipeline::port::{Charge, Exhausted, LocalState};
use crate::plugin::ctx::Ctx;

const KEY_MAX: usize = 256;
/// Charges that are taken as one.
const CHARGES_MAX: usize = 16;

impl Ctx {
    fn state(&mut self, key: &str) -> Result<&dyn LocalState> {
        self.charge()?;
        self.task.impure("state")?;
        if key.len() > KEY_MAX {
            bail!("a key of the plugin's state has more than {KEY_MAX} bytes");
        }
        Ok(&*self.place.state)
    }
}

impl Host for Ctx {
    fn next(&mut self, slot: u32) -> Result<u32> {
        Ok(self.state("")?.next(slot % 64))
    }

    fn add(&mut self, key: String, delta: i32, ttl_ms: Option<u32>) -> Result<f64> {
        Ok(self.state(&key)?.add(&key, delta, ttl(ttl_ms)).unwrap_or(f64::NAN))
    }

    fn take(&mut self, key: String, cost: u32, limit: u32, window_ms: u32) -> Result<u32> {
        let window = Duration::from_millis(window_ms.into());
        Ok(wait(self.state(&key)?.take(&key, cost, limit, window)))
    }

    fn draw(&mut self, key: String, cost: u32, per_minute: u32, burst: u32) -> Result<u32> {
        Ok(wait(self.state(&key)?.draw(&key, cost, per_minute, burst)))
    }

    fn take_all(&mut self, charges: Vec<Given>) -> Result<Option<(u32, u32)>> {
        if charges.len() > CHARGES_MAX {
            bail!("more than {CHARGES_MAX} charges at once");
        }
        let repeated = |(place, one): (usize, &Given)| {
            charges.iter().take(place).any(|other| other.key == one.key)
        };
        if charges.iter().enumerate().any(repeated) {
            bail!("charges that are taken at once have the same key");
        }
        self.state("")?;
        for charge in &charges {
            self.state(&charge.key)?;
        }
        let charges = charges.into_iter().map(|given| Charge {
            key: given.key,
            cost: given.cost,
            limit: given.limit,
            window: Duration::from_millis(given.window_ms.into()),
            burst: given.burst,
        });
        let charges: Vec<_> = charges.collect();
        Ok(match self.place.state.take_all(&charges) {
            Ok(None) => None,
            Ok(Some((place, time))) => {
                Some((u32::try_from(place).unwrap_or(u32::MAX), wait(Ok(time))))
            }
            Err(Exhausted) => Some((0, wait(Err(Exhausted)))),
        })
    }

    fn get(&mut self, key: String) -> Result<Option<String>> {
        Ok(self.state(&key)?.get(&key))
    }

    fn set(&mut self, key: String, value: String, ttl_ms: Option<u32>) -> Result<bool> {
        Ok(self.state(&key)?.set(&key, &value, ttl(ttl_ms)).is_ok())
    }

    fn compare_and_set(
        &mut self,
        key: String,
        old: Option<String>,
        new: String,
        ttl_ms: Option<u32>,
    ) -> Result<bool> {
        let state = self.state(&key)?;
        Ok(state.compare_and_set(&key, old.as_deref(), &new, ttl(ttl_ms)).unwrap_or(false))
    }

    fn remove(&mut self, key: String) -> Result<()> {
        self.state(&key)?.remove(&key);
        Ok(())
    }
}

fn ttl(ms: Option<u32>) -> Option<Duration> {
    ms.map(|ms| Duration::from_millis(ms.into()))
}

/// Milliseconds to wait, rounded up. Full state cannot count, so it refuses for a while.
fn wait(answer: Result<Duration, Exhausted>) -> u32 {
    match answer {
        Ok(wait) if wait.is_zero() => 0,
        Ok(wait) => u32::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u32::MAX),
        Err(Exhausted) => 1_000,
    }
}
