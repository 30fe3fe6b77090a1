//! `listing`: details of the items on a page.

use plugway_bindings::imports::listing::Host;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use wasmtime::Result;

use crate::catalogue::{Entry, Target};
use crate::hex::hex;
use crate::plugin::ctx::Ctx;

#[derive(Deserialize)]
struct Described {
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
}

impl Host for Ctx {
    fn upstream_name(&mut self, index: u32) -> Result<String> {
        self.charge()?;
        Ok(self.item(index)?.map_or_else(String::new, |entry| match &entry.target {
            Target::Fixed { name, .. } => name.as_ref().into(),
            Target::Dynamic | Target::Local => entry.key.as_ref().into(),
        }))
    }

    fn digest(&mut self, index: u32) -> Result<String> {
        self.charge()?;
        Ok(self
            .item(index)?
            .map_or_else(String::new, |entry| hex(&Sha256::digest(entry.definition.as_bytes()))))
    }

    fn attribute(&mut self, index: u32, key: String) -> Result<Option<String>> {
        self.charge()?;
        let page = self.task.page()?;
        if key == "connector" {
            return Ok(Some(page.connector.as_ref().into()));
        }
        if key == "runs-code" {
            let upstream =
                page.entries.get(index as usize).and_then(|(_, upstream)| upstream.as_ref());
            let runs = upstream.is_some_and(|upstream| page.run_code.contains(upstream));
            return Ok(runs.then(|| "true".to_owned()));
        }
        if key == "functions" {
            let upstream =
                page.entries.get(index as usize).and_then(|(_, upstream)| upstream.as_deref());
            return Ok(upstream.and_then(|upstream| page.functions(upstream)).map(Into::into));
        }
        let Some(entry) = self.item(index)? else { return Ok(None) };
        if key == "target" {
            return Ok(Some(served(entry).into()));
        }
        let Ok(described) = serde_json::from_str::<Described>(&entry.definition) else {
            return Ok(None);
        };
        Ok(match key.as_str() {
            "name" => described.name,
            "title" => described.title,
            "description" => described.description,
            _ => None,
        })
    }

    fn header(&mut self, name: String) -> Result<Option<String>> {
        self.charge()?;
        let name = name.to_ascii_lowercase();
        let filters = self.task.page()?.filters.as_ref();
        let own = filters.filter(|_| self.place.headers.reads(&name));
        Ok(own.and_then(|filters| filters.header(&name)).map(Into::into))
    }

    fn query(&mut self, name: String) -> Result<Option<String>> {
        self.charge()?;
        let filters = self.task.page()?.filters.as_ref();
        let own = filters.filter(|_| self.place.headers.reads_query(&name));
        Ok(own.and_then(|filters| filters.query(&name)).map(Into::into))
    }
}

/// How an item is served, in the words of the contract.
fn served(entry: &Entry) -> &'static str {
    match entry.target {
        Target::Fixed { .. } => "fixed",
        Target::Dynamic => "dynamic",
        Target::Local => "local",
    }
}

impl Ctx {
    fn item(&self, index: u32) -> Result<Option<&Entry>> {
        let item = self.task.page()?.entries.get(index as usize);
        Ok(item.map(|(entry, _)| &**entry))
    }
}
