//! `load_tools` and `unload_tools`.

use std::collections::HashSet;

use plugway_sdk::prelude::reveal;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::find::SERVERS_MAX;
use super::listed::{self, Definition, json};
use super::offers::CALL;
use crate::unified::cut;
use crate::unified::prepared::Prepared;

/// Most names of one call.
pub const ITEMS_MAX: usize = 256;
/// So many bytes of a name are said again.
const NAME_MAX: usize = 200;
/// Bytes of the definitions that one load gives.
const ROOM: usize = 1 << 20;

/// The arguments of `load_tools`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Names of tools.
    pub items: Vec<String>,
    /// Each until its first call.
    #[serde(default)]
    pub auto_unload: bool,
    /// What happens where there is no room.
    #[serde(default)]
    pub evict: Option<Evict>,
}

/// What is unloaded where there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evict {
    /// What was used the longest ago.
    Lru,
}

/// The arguments of `unload_tools`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Unload {
    /// Names of tools.
    pub items: Vec<String>,
    /// Every tool of these servers.
    pub servers: Vec<String>,
    /// Every tool.
    pub all_items: bool,
}

#[derive(Debug, Default, Serialize)]
struct Answer<'a> {
    items: Vec<Item<'a>>,
    loaded: Vec<String>,
    evicted: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_total: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_cap: Option<u32>,
}

/// A tool and how it is called.
#[derive(Debug, Serialize)]
struct Item<'a> {
    kind: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Box<RawValue>>,
    /// The tool to call.
    callable_as: &'a str,
    fallback: Fallback<'a>,
}

/// The way that needs no list.
#[derive(Debug, Serialize)]
struct Fallback<'a> {
    tool: &'static str,
    arguments: Named<'a>,
}

#[derive(Debug, Serialize)]
struct Named<'a> {
    name: &'a str,
    arguments: Empty,
}

#[derive(Debug, Serialize)]
struct Empty {}

#[derive(Debug, Serialize)]
struct Unloaded {
    unloaded: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_total: Option<u32>,
}

/// Loads, where something is kept; the answer as JSON text. The error is one sentence.
pub fn load(wish: &Load) -> Result<String, String> {
    if !(1..=ITEMS_MAX).contains(&wish.items.len()) {
        return Err(format!("`items` must be from 1 to {ITEMS_MAX} names."));
    }
    let mut known = HashSet::new();
    let names = wish.items.iter().filter(|name| known.insert(name.as_str()));
    let mut room = ROOM;
    let mut found = Vec::new();
    for name in names {
        let (definition, length) = listed::of(name).ok_or_else(|| {
            let name = cut(name, NAME_MAX);
            format!("No tool {name:?} can be loaded now: find_tools finds those that can.")
        })?;
        room = room.checked_sub(length).ok_or(
            "The definitions of so many tools are too long for one answer: load fewer at once.",
        )?;
        found.push((name.as_str(), definition));
    }
    // Nothing is kept between requests of the modern era.
    let keeps = reveal::loaded().is_some();
    let mut answer = Answer::default();
    if keeps {
        let names: Vec<String> = found.iter().map(|(name, _)| (*name).to_owned()).collect();
        let change = reveal::load(&names, wish.auto_unload, wish.evict.is_some())?;
        (answer.loaded, answer.evicted) = (change.loaded, change.unloaded);
        (answer.session_total, answer.session_cap) = (Some(change.total), Some(change.cap));
    }
    let items = found.into_iter().map(|(name, definition)| item(name, definition, keeps));
    answer.items = items.collect();
    Ok(json(&answer))
}

fn item(name: &str, definition: Definition, keeps: bool) -> Item<'_> {
    let Definition { title, description, input, output, annotations } = definition;
    Item {
        kind: "tool",
        name,
        title,
        description,
        input_schema: input,
        output_schema: output,
        annotations,
        callable_as: if keeps { name } else { CALL },
        fallback: Fallback { tool: CALL, arguments: Named { name, arguments: Empty {} } },
    }
}

/// Unloads; the answer as JSON text. The error is one sentence.
pub fn unload(wish: &Unload, prepared: &Prepared) -> Result<String, String> {
    let Unload { items, servers, all_items } = wish;
    if items.is_empty() && servers.is_empty() && !all_items {
        return Err("Give `items`, `servers`, or `all_items`: true.".to_owned());
    }
    if items.len() > ITEMS_MAX || servers.len() > SERVERS_MAX {
        return Err(format!("At most {ITEMS_MAX} items and {SERVERS_MAX} servers are named."));
    }
    let Some(loaded) = reveal::loaded() else {
        return Ok(json(&Unloaded { unloaded: Vec::new(), session_total: None }));
    };
    let of_servers: HashSet<&str> = prepared
        .ways
        .iter()
        .filter(|way| {
            let server = prepared.servers.get(way.server as usize);
            server.is_some_and(|server| servers.contains(&server.name))
        })
        .map(|way| way.tool.as_str())
        .collect();
    let goes =
        |name: &String| *all_items || items.contains(name) || of_servers.contains(name.as_str());
    let names: Vec<String> = loaded.into_iter().filter(goes).collect();
    let change = reveal::unload(&names);
    Ok(json(&Unloaded { unloaded: change.unloaded, session_total: Some(change.total) }))
}
