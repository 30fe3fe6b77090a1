//! Which servers run code: policies may treat their tools alike, whatever name stands in them.

use std::sync::Arc;

use super::connector::{Connector, Served};
use super::views::Judged;
use crate::catalogue::{Catalogue, Entry, EntryKind, Target};

/// Whether a server's own name for a tool is one of those that run code: `execute_{name}_code`, before which may stand what
/// a proxy prefixes; a pool of servers has `execute_code`.
pub fn executes(tool: &str) -> bool {
    let Some(rest) = tool.strip_suffix("_code") else { return false };
    rest.split_once("execute").is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('_'))
}

impl Connector {
    /// Whether the server of that name runs code: it lists such a tool, or a caller with this catalogue is offered one.
    pub(super) fn runs_code(&self, catalogue: &Catalogue, upstream: &str) -> bool {
        let served = self.place_of(upstream).and_then(|place| self.upstreams.get(place));
        let is_its =
            |entry: &Entry| catalogue.upstream_of(entry).is_some_and(|name| **name == *upstream);
        served.is_some_and(lists_one)
            || catalogue.entries().iter().any(|entry| is_one(entry) && is_its(entry))
    }

    /// The names of all that do, as far as these entries and the servers' own lists say.
    pub(super) fn run_code(&self, entries: &[Judged]) -> Arc<[Arc<str>]> {
        let offered = |name: &str| {
            entries
                .iter()
                .any(|(entry, upstream)| upstream.as_deref() == Some(name) && is_one(entry))
        };
        let all = self.upstreams.iter();
        let running = all.filter(|served| lists_one(served) || offered(served.upstream.name()));
        running.map(|served| served.upstream.name().clone()).collect()
    }
}

fn lists_one(served: &Served) -> bool {
    served.snapshot().offering.as_ref().is_some_and(|offering| offering.runs_code)
}

fn is_one(entry: &Entry) -> bool {
    entry.kind == EntryKind::Tool
        && matches!(&entry.target, Target::Fixed { name, .. } if executes(name))
}

#[cfg(test)]
mod tests {
    use super::executes;

    #[test]
    fn tools_that_run_code_are_known_by_their_names() {
        for name in
            ["execute_chem_code", "execute_code", "hub_execute_chem_code", "execute_a_b_code"]
        {
            assert!(executes(name), "{name}");
        }
        for name in ["echo", "execute", "execute_sql", "run_code", "executed_code", "code"] {
            assert!(!executes(name), "{name}");
        }
    }
}
