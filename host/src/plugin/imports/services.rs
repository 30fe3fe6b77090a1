//! `clock` and `random`.

use std::time::{SystemTime, UNIX_EPOCH};

use plugway_bindings::imports::{clock, random};
use wasmtime::{Result, format_err};

use crate::plugin::ctx::Ctx;

impl clock::Host for Ctx {
    fn monotonic_us(&mut self) -> Result<f64> {
        self.charge()?;
        self.task.impure("clock")?;
        Ok(self.place.monotonic().as_secs_f64() * 1e6)
    }

    fn unix_ms(&mut self) -> Result<f64> {
        self.charge()?;
        self.task.impure("clock")?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok((since.as_secs_f64() * 1e3).floor())
    }
}

impl random::Host for Ctx {
    fn next(&mut self) -> Result<u32> {
        self.charge()?;
        self.task.impure("random")?;
        getrandom::u32().map_err(|error| format_err!("the system gives no random numbers: {error}"))
    }
}
