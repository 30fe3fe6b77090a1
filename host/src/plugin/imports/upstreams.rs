//! `upstreams`: requests to the upstreams of the connector, for plugins that were granted it.

use plugway_bindings::waiting::upstreams::Host;
use tokio::time::timeout;
use wasmtime::{Result, bail};

use super::clean;
use crate::pipeline::port::Asker;
use crate::plugin::ctx::Ctx;
use crate::plugin::inspect::Kind;
use crate::plugin::limits::{Hook, UPSTREAM_WAIT};

impl Host for Ctx {
    async fn request(
        &mut self,
        upstream: String,
        method: String,
        params: String,
    ) -> Result<Result<String, String>> {
        self.charge()?;
        let call = self.task.call()?;
        let hook = call.hook;
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
        let asker = match (self.place.kind, hook) {
            (Kind::Router, Hook::Answer) => Asker::Router,
            _ => Asker::Policy,
        };
        let left = UPSTREAM_WAIT.saturating_sub(self.budget.started.elapsed());
        let late = format!("The server {} did not answer in time.", clean(&upstream, 64));
        match timeout(left, requester.request(asker, upstream, method, params)).await {
            Ok(answered) => Ok(answered),
            Err(_) => Ok(Err(late)),
        }
    }
}
