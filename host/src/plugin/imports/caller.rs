//! `caller`: who calls.

use plugway_bindings::imports::caller::Host;
use wasmtime::Result;

use crate::plugin::ctx::Ctx;

impl Host for Ctx {
    fn id(&mut self) -> Result<String> {
        self.charge()?;
        Ok(self.task.caller()?.id.as_ref().into())
    }

    fn display(&mut self) -> Result<String> {
        self.charge()?;
        Ok(self.task.caller()?.display.as_ref().into())
    }

    fn anonymous(&mut self) -> Result<bool> {
        self.charge()?;
        Ok(self.task.caller()?.anonymous)
    }

    fn tenant(&mut self) -> Result<Option<String>> {
        self.charge()?;
        Ok(self.task.caller()?.tenant.as_deref().map(Into::into))
    }

    fn client(&mut self) -> Result<Option<String>> {
        self.charge()?;
        Ok(self.task.caller()?.client.as_deref().map(Into::into))
    }

    fn has_scope(&mut self, scope: String) -> Result<bool> {
        self.charge()?;
        Ok(self.task.caller()?.scopes.iter().any(|own| **own == *scope))
    }

    fn claim(&mut self, name: String) -> Result<Option<String>> {
        self.charge()?;
        Ok(self.task.caller()?.claims.get(name.as_str()).map(|claim| claim.as_ref().into()))
    }
}
