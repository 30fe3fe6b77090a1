//! `handles`: which caller got which id of a server.

use plugway_bindings::imports::handles::Host;
use wasmtime::{Result, bail};

use crate::pipeline::CallContext;
use crate::plugin::ctx::Ctx;
use crate::plugin::inspect::Kind;

impl Host for Ctx {
    fn claim(&mut self, kind: String, id: String) -> Result<bool> {
        let call = self.with_handles()?;
        Ok(call.handles.claim(&call.keeper(), upstream(call), &kind, &id))
    }

    fn owns(&mut self, upstream: Option<String>, kind: String, id: String) -> Result<bool> {
        let call = self.with_handles()?;
        Ok(call.handles.owns(&call.keeper(), upstream.as_deref(), &kind, &id))
    }

    fn list(&mut self, upstream: String, kind: String) -> Result<Vec<String>> {
        let call = self.with_handles()?;
        Ok(call.handles.list(&call.keeper(), &upstream, &kind))
    }

    fn release(&mut self, kind: String, id: String) -> Result<()> {
        let call = self.with_handles()?;
        call.handles.release(&call.keeper(), upstream(call), &kind, &id);
        Ok(())
    }
}

impl Ctx {
    fn with_handles(&mut self) -> Result<&CallContext> {
        self.charge()?;
        if self.place.kind != Kind::Router {
            bail!("the plugin asked about handles, which belong to routers");
        }
        Ok(&self.task.call()?.context)
    }
}

/// The upstream of the call; none is one that no id belongs to.
fn upstream(call: &CallContext) -> &str {
    call.target.as_ref().map_or("", |(upstream, _)| upstream)
}
