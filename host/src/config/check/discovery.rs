//! Whether clients list every tool of a connector.

use super::findings::Findings;
use super::limits::Bounds;
use crate::config::file::{DiscoveryMode, DiscoveryUse};
use crate::config::key::KeyPath;
use crate::config::settings::LazySettings;

/// Most globs of one connector: each tool is compared with all of them.
const RESIDENTS_MAX: usize = 256;
/// Most tools that a session may have loaded.
const CAP_MAX: usize = 256;

/// None where every tool is listed.
pub(super) fn check(
    written: Option<&DiscoveryUse>,
    key: &KeyPath,
    findings: &mut Findings,
) -> Option<LazySettings> {
    let written = written?;
    match written.mode {
        Some(DiscoveryMode::Lazy) => {}
        Some(DiscoveryMode::Eager) => {
            for (name, stands) in [
                ("residents", written.residents.is_some()),
                ("cap", written.cap.is_some()),
                ("idle", written.idle.is_some()),
            ] {
                if stands {
                    let sentence = "means nothing where every tool is listed";
                    findings.problem(
                        &key.key(name),
                        sentence,
                        "write `mode: lazy`, or take it out",
                    );
                }
            }
            return None;
        }
        None => {
            findings.problem(key, "has no `mode`", "write `mode: lazy`");
            return None;
        }
    }
    let default = LazySettings::default();
    let residents = written.residents.clone().unwrap_or_default();
    for (place, glob) in residents.iter().enumerate() {
        if glob.is_empty() {
            let key = key.key("residents").item(place);
            findings.problem(&key, "is empty", "write a name or a glob such as `git_*`");
        }
    }
    let mut bounds = Bounds { key, findings };
    bounds.within("residents", residents.len() <= RESIDENTS_MAX, "at most 256 globs");
    let cap = written.cap.map_or(default.cap, |cap| usize::try_from(cap).unwrap_or(usize::MAX));
    bounds.within("cap", (1..=CAP_MAX).contains(&cap), "from 1 to 256");
    Some(LazySettings { residents, cap, idle: bounds.span("idle", written.idle, default.idle) })
}
