//! What the caller may know of: everything that a policy hides from it is as if it were not there.

use std::collections::HashSet;

use plugway_sdk::prelude::{call, catalogue};
use serde::Deserialize;

use super::prepared::{Prepared, Tool, Way};
use crate::status;

/// For each way of what was prepared, and for each of the things that are found as tools, whether the caller may know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    ways: Vec<bool>,
    tools: Vec<bool>,
}

impl Sight {
    /// Of the caller of the call in hand. Tools of servers that are away stand in no list; the host's status names those that
    /// this caller may know of. A function is seen by who sees the tool that runs it, and the function itself.
    pub fn of_caller(prepared: &Prepared) -> Self {
        let is_up = |server: u32| prepared.servers.get(server as usize).is_some_and(|one| one.up);
        // By name and never by number: after a shape that failed, what was prepared is older than the list.
        let names = catalogue::names("tool");
        let listed: HashSet<&str> = names.lines().collect();
        let mut away = None;
        let sees = |way: &Way| {
            if is_up(way.server) {
                listed.contains(way.tool.as_str())
            } else {
                away.get_or_insert_with(known_away).contains(&way.tool)
            }
        };
        let ways: Vec<bool> = prepared.ways.iter().map(sees).collect();
        let tools = of_tools(prepared, &ways);
        Self { ways, tools }
    }

    /// One that sees all.
    pub fn whole(prepared: &Prepared) -> Self {
        Self { ways: vec![true; prepared.ways.len()], tools: vec![true; prepared.tools.len()] }
    }

    /// Whether the way at a place is seen.
    pub fn sees(&self, way: u32) -> bool {
        self.ways.get(way as usize).copied().unwrap_or(false)
    }

    /// Whether the tool or function at a place is seen.
    pub fn sees_tool(&self, place: u32) -> bool {
        self.tools.get(place as usize).copied().unwrap_or(false)
    }

    /// The same for all of them, in their order.
    pub fn of_tools(&self) -> &[bool] {
        &self.tools
    }
}

/// For each tool or function whether it is seen, after the ways.
fn of_tools(prepared: &Prepared, ways: &[bool]) -> Vec<bool> {
    let mut key = String::new();
    let mut names = None;
    let known = names_of_functions(prepared, &mut names);
    let sees = |one: &Tool| {
        if !ways.get(one.way as usize).copied().unwrap_or(false) {
            return false;
        }
        let Some(function) = &one.function else { return true };
        let Some((_, server)) = prepared.way(one.way) else { return false };
        function.write_key(&server.name, &mut key);
        known.contains(key.as_str())
    };
    prepared.tools.iter().map(sees).collect()
}

/// What the host knows the functions by that the caller may know of, be their servers there or not; not asked for where there are
/// none.
fn names_of_functions<'a>(prepared: &Prepared, names: &'a mut Option<String>) -> HashSet<&'a str> {
    if prepared.tools.iter().all(|one| one.function.is_none()) {
        return HashSet::new();
    }
    names.insert(catalogue::known("function")).lines().collect()
}

/// The tools that the caller may know of, be their servers there or not: the status is of this moment, and may know already
/// that a server is back which was away when the lists were made.
fn known_away() -> HashSet<String> {
    #[derive(Default, Deserialize)]
    struct Status {
        servers: Vec<Server>,
    }
    #[derive(Deserialize)]
    struct Server {
        tools: Vec<String>,
    }
    let live = call::attribute(status::LIVE).unwrap_or_default();
    let status: Status = serde_json::from_str(&live).unwrap_or_default();
    status.servers.into_iter().flat_map(|one| one.tools).collect()
}
