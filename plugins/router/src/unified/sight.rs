//! What the caller may know of: everything that a policy hides from it is as if it were not there.

use std::collections::HashSet;

use plugway_sdk::prelude::{call, catalogue};
use serde::Deserialize;

use super::prepared::Prepared;
use crate::status;

/// For each way of what was prepared, whether the caller may know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight(Vec<bool>);

impl Sight {
    /// Of the caller of the call in hand. Tools of servers that are away stand in no list; the host's status names those that
    /// this caller may know of.
    pub fn of_caller(prepared: &Prepared) -> Self {
        let whole = catalogue::count() == prepared.listed;
        let is_up = |server: u32| prepared.servers.get(server as usize).is_some_and(|one| one.up);
        let away = if prepared.ways.iter().all(|way| is_up(way.server)) {
            HashSet::new()
        } else {
            known_away()
        };
        let seen = prepared.ways.iter().map(|way| {
            if is_up(way.server) {
                whole || catalogue::find("tool", &way.tool).is_some()
            } else {
                away.contains(&way.tool)
            }
        });
        Self(seen.collect())
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

/// The tools of servers that no list shows now.
fn known_away() -> HashSet<String> {
    #[derive(Default, Deserialize)]
    struct Status {
        servers: Vec<Server>,
    }
    #[derive(Deserialize)]
    struct Server {
        listed: bool,
        tools: Vec<String>,
    }
    let live = call::attribute(status::LIVE).unwrap_or_default();
    let status: Status = serde_json::from_str(&live).unwrap_or_default();
    status.servers.into_iter().filter(|one| !one.listed).flat_map(|one| one.tools).collect()
}
