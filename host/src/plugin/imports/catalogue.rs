//! `catalogue`: what the caller may see.

use std::sync::Arc;

use plugway_bindings::imports::catalogue::Host;
use wasmtime::Result;

use crate::catalogue::{Entry, EntryKind};
use crate::plugin::ctx::Ctx;
use crate::plugin::inspect::Kind;

/// The keys of the entries of a kind, each with a line feed behind it.
fn lines(kind: EntryKind, entries: &mut dyn Iterator<Item = &Arc<Entry>>) -> String {
    let mut names = String::new();
    for entry in entries.filter(|entry| entry.kind == kind && !entry.key.contains('\n')) {
        names.push_str(&entry.key);
        names.push('\n');
    }
    names
}

impl Host for Ctx {
    fn generation(&mut self) -> Result<u32> {
        self.charge()?;
        Ok(self.task.call()?.context.view.catalogue().generation)
    }

    fn document(&mut self) -> Result<String> {
        self.charge()?;
        let call = self.task.call()?;
        Ok(match self.place.kind {
            Kind::Router => call.context.view.catalogue().document.as_ref().into(),
            Kind::Policy => String::new(),
        })
    }

    fn count(&mut self) -> Result<u32> {
        self.charge()?;
        Ok(u32::try_from(self.task.call()?.listed().len()).unwrap_or(u32::MAX))
    }

    fn entry(&mut self, index: u32) -> Result<Option<String>> {
        self.charge()?;
        let call = self.task.call()?;
        let Some(place) = call.listed().get(index as usize) else { return Ok(None) };
        let view = &call.context.view;
        let entry = view.catalogue().entry(*place);
        Ok(entry.map(|entry| view.definition(entry, *place).into()))
    }

    fn names(&mut self, kind: String) -> Result<String> {
        self.charge()?;
        let call = self.task.call()?;
        let Some(kind) = EntryKind::parse(&kind) else { return Ok(String::new()) };
        let catalogue = call.context.view.catalogue();
        let mut entries = call.listed().iter().filter_map(|place| catalogue.entry(*place));
        Ok(lines(kind, &mut entries))
    }

    fn known(&mut self, kind: String) -> Result<String> {
        self.charge()?;
        let call = self.task.call()?;
        let Some(kind) = EntryKind::parse(&kind) else { return Ok(String::new()) };
        Ok(lines(kind, &mut call.context.view.shown().map(|(entry, _)| entry)))
    }

    fn find(&mut self, kind: String, name: String) -> Result<Option<u32>> {
        self.charge()?;
        let call = self.task.call()?;
        let Some(kind) = EntryKind::parse(&kind) else { return Ok(None) };
        let place = call.context.view.catalogue().find(kind, &name);
        let index = place.and_then(|place| call.listed().binary_search(&place).ok());
        Ok(index.and_then(|index| u32::try_from(index).ok()))
    }
}
