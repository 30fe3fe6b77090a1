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
        let Some(entry) = self.item(index)? else { return Ok(None) };
        let Ok(described) = serde_json::from_str::<Described>(&entry.definition) else {
            return Ok(None);
        };
        Ok(match key.as_str() {
            "title" => described.title,
            "description" => described.description,
            _ => None,
        })
    }
}

impl Ctx {
    fn item(&self, index: u32) -> Result<Option<&Entry>> {
        let item = self.task.page()?.entries.get(index as usize);
        Ok(item.map(|(entry, _)| &**entry))
    }
}
