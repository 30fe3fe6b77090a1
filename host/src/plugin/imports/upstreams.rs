//! `upstreams`: requests to the upstreams of the connector, for plugins that were granted it.

use plugway_bindings::waiting::upstreams::Host;
use tokio::time::timeout;
use wasmtime::{Result, bail};

use super::clean;
use crate::pipeline::port::Asker;
use crate::plugin::ctx::Ctx;
use crate::plugin::inspect::Kind;
use crate::plugin::limits::{Hook, UPSTREAM_WAIT};
use crate::plugin::seat::apart;

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
        if (self.place.kind, hook) == (Kind::Router, Hook::Answer) && !self.may_wait(&upstream)? {
            return Ok(Err("too many calls wait for answers of servers already".into()));
        }
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

impl Ctx {
    /// Whether the call in hand may wait for a server. It has the right from its first request to its end.
    fn may_wait(&mut self, upstream: &str) -> Result<bool> {
        let waits = self.place.waits.clone();
        let call = self.task.call_mut()?;
        if call.waiting.is_none() {
            call.waiting = waits.enter(apart(&call.context.caller), upstream);
            call.crowded = call.waiting.is_none();
        }
        Ok(!call.crowded)
    }
}
