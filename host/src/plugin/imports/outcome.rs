//! `outcome`: what came back.

use plugway_bindings::imports::outcome::Host;
use wasmtime::Result;

use crate::plugin::ctx::Ctx;

impl Host for Ctx {
    fn count(&mut self) -> Result<u32> {
        self.charge()?;
        self.task.outcome().map(|_| 1)
    }

    fn worker(&mut self, _index: u32) -> Result<Option<u32>> {
        self.charge()?;
        self.task.outcome().map(|_| None)
    }

    fn failed(&mut self, _index: u32) -> Result<Option<String>> {
        self.charge()?;
        self.task.outcome().map(|_| None)
    }

    fn dispatched(&mut self, index: u32) -> Result<bool> {
        self.charge()?;
        self.task.outcome().map(|_| index == 0)
    }

    fn is_error(&mut self, index: u32) -> Result<bool> {
        self.charge()?;
        self.task.outcome().map(|(_, outcome)| index == 0 && outcome.is_error)
    }

    fn latency_us(&mut self, index: u32) -> Result<u32> {
        self.charge()?;
        self.task.outcome().map(|(_, outcome)| if index == 0 { outcome.latency_us } else { 0 })
    }

    fn body_len(&mut self, index: u32) -> Result<u32> {
        self.charge()?;
        let (_, outcome) = self.task.outcome()?;
        Ok(if index == 0 { u32::try_from(outcome.body.len()).unwrap_or(u32::MAX) } else { 0 })
    }

    fn body(&mut self, index: u32) -> Result<String> {
        self.charge()?;
        let (_, outcome) = self.task.outcome()?;
        Ok(if index == 0 {
            String::from_utf8_lossy(&outcome.body).into_owned()
        } else {
            String::new()
        })
    }

    fn field(&mut self, index: u32, pointer: String) -> Result<Option<String>> {
        self.charge()?;
        let (call, _) = self.task.outcome()?;
        if index != 0 {
            return Ok(None);
        }
        Ok(call.body().and_then(|body| body.pointer(&pointer)))
    }
}
