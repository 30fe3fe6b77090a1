//! What the caller may know of: everything that a policy hides from it is as if it were not there.

use std::collections::HashSet;

use plugway_sdk::prelude::{call, catalogue};
use serde::Deserialize;

use super::prepared::{Prepared, Way};
use crate::status;

/// For each way of what was prepared, whether the caller may know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight(Vec<bool>);

impl Sight {
    /// Of the caller of the call in hand. Tools of servers that are away stand in no list; the host's status names those that
    /// this caller may know of.
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
        Self(prepared.ways.iter().map(sees).collect())
    }

    /// One that sees all.
    pub fn whole(prepared: &Prepared) -> Self {
        Self(vec![true; prepared.ways.len()])
    }

    /// Whether the way at a place is seen.
    pub fn sees(&self, way: u32) -> bool {
        self.0.get(way as usize).copied().unwrap_or(false)
    }
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
