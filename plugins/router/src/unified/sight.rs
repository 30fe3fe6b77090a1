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
        let (mut up, mut seen) = (Vec::new(), vec![false; prepared.ways.len()]);
        let mut away = None;
        for (way, (place, seen)) in prepared.ways.iter().zip(seen.iter_mut().enumerate()) {
            if is_up(way.server) {
                up.push((way, place));
            } else {
                *seen = away.get_or_insert_with(known_away).contains(&way.tool);
            }
        }
        up.sort_by_key(|(way, _)| way.place);
        let begin = Anchor { place: 0, index: 0 };
        let end = Anchor { place: prepared.listed + 1, index: catalogue::count() + 1 };
        spread(&up, begin, end, 0, &mut seen);
        Self(seen)
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

/// An entry that the caller sees, or what stands before the first or behind the last one.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    /// Place among all entries, from 1.
    place: u32,
    /// Place among those that the caller sees, from 1.
    index: u32,
}

/// Finds out which of these ways the caller sees. They stand between two anchors in their order, and behind the last of them
/// `gone` entries that it does not see.
///
/// What a caller sees has the order of all: where as many are seen between two as there are, or none, nothing has to be asked.
/// So the host is asked about the edges of what is hidden, not ten thousand times.
fn spread(ways: &[(&Way, usize)], left: Anchor, right: Anchor, gone: u32, seen: &mut [bool]) {
    let between = |from: u32, to: u32| to.saturating_sub(from).saturating_sub(1);
    let shown = between(left.index, right.index);
    if shown == 0 || ways.is_empty() {
        return;
    }
    if shown == between(left.place, right.place).saturating_sub(gone) {
        for (_, place) in ways {
            seen.get_mut(*place).into_iter().for_each(|seen| *seen = true);
        }
        return;
    }
    let (before, after) = ways.split_at(ways.len() / 2);
    let mut passed = 0;
    let mut rest = after.iter();
    while let Some((way, place)) = rest.next() {
        if let Some(index) = catalogue::find("tool", &way.tool) {
            seen.get_mut(*place).into_iter().for_each(|seen| *seen = true);
            let here = Anchor { place: way.place + 1, index: index + 1 };
            spread(before, left, here, passed, seen);
            spread(rest.as_slice(), here, right, gone, seen);
            return;
        }
        passed += 1;
    }
    spread(before, left, right, gone + passed, seen);
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
