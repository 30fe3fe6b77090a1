//! `upstreams`: requests to the upstreams of the connector, for plugins that were granted it.

use plugway_bindings::waiting::upstreams::Host;
use wasmtime::{Result, bail};

use crate::plugin::ctx::Ctx;
use crate::plugin::limits::Hook;

impl Host for Ctx {
    async fn request(
        &mut self,
        upstream: String,
        method: String,
        params: String,
    ) -> Result<Result<String, String>> {
        self.charge()?;
        let call = self.task.call()?;
        if !matches!(call.hook, Hook::Answer | Hook::Admit | Hook::Review) {
            bail!(
                "the plugin sent a request to an upstream in `{}`, which has no time for it",
                call.hook.as_str()
            );
        }
        let Some(requester) = call.context.requester.clone() else {
            return Ok(Err("no requests to upstreams can be sent from here".into()));
        };
        match self.budget.requests.checked_sub(1) {
            Some(left) => self.budget.requests = left,
            None => return Ok(Err("this call has sent as many requests as one call may".into())),
        }
        Ok(requester.request(upstream, method, params).await)
    }
}
