//! `reveal`: what the caller's session has loaded, for plugins that were granted it.

use std::sync::Arc;

use plugway_bindings::imports::reveal::{Change, Host};
use wasmtime::Result;

use crate::pipeline::lazy::{Change as Changed, Reveal};
use crate::plugin::ctx::Ctx;

impl Host for Ctx {
    fn loaded(&mut self) -> Result<Option<Vec<String>>> {
        self.charge()?;
        let view = &self.task.call()?.context.view;
        Ok(self.reveal()?.map(|reveal| texts(&reveal.loaded(view))))
    }

    fn load(
        &mut self,
        names: Vec<String>,
        once: bool,
        evict: bool,
    ) -> Result<Result<Change, String>> {
        self.charge()?;
        let view = &self.task.call()?.context.view;
        Ok(match self.reveal()? {
            Some(reveal) => reveal.load(view, &names, once, evict).map(|changed| change(&changed)),
            None => Err("Nothing is loaded here: no session keeps it.".to_owned()),
        })
    }

    fn unload(&mut self, names: Vec<String>) -> Result<Change> {
        self.charge()?;
        let view = &self.task.call()?.context.view;
        let changed = self.reveal()?.map(|reveal| reveal.unload(view, &names));
        Ok(change(&changed.unwrap_or_default()))
    }
}

impl Ctx {
    /// None where nothing is kept for the caller of the call in hand.
    fn reveal(&self) -> Result<Option<Reveal>> {
        let requester = &self.task.call()?.context.requester;
        Ok(requester.as_ref().and_then(|requester| requester.reveal()))
    }
}

fn change(changed: &Changed) -> Change {
    let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Change {
        loaded: texts(&changed.loaded),
        unloaded: texts(&changed.unloaded),
        total: count(changed.total),
        cap: count(changed.cap),
    }
}

fn texts(names: &[Arc<str>]) -> Vec<String> {
    names.iter().map(|name| name.as_ref().into()).collect()
}
