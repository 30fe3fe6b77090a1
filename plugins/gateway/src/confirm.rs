//! When a person is asked before a tool is called.

use plugway_sdk::host::call;

use crate::called::{Called, Subject};
use crate::lists::Patterns;

/// `confirm: destructive`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destructive {
    /// Tools that do not count as such.
    pub not: Patterns,
}

impl Destructive {
    /// What the person is asked, where the tool counts as destructive: unless the server says that it only reads or destroys
    /// nothing, and the operator trusts that, or the operator says so.
    pub fn asks(&self, called: &Called) -> Option<String> {
        let harmless = called.subject != Subject::Tool
            || self.not.match_any(&called.names())
            || call::hint("readOnlyHint") == Some(true)
            || call::hint("destructiveHint") == Some(false)
            || called.is_own();
        (!harmless).then(|| format!("{} counts as destructive.", shown(called)))
    }
}

/// What the person is asked where a rule wants it.
pub fn of_rule(called: &Called, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("{}: {reason}", shown(called)),
        None => format!("{} needs a confirmation.", shown(called)),
    }
}

/// `SERVER/TOOL`.
fn shown(called: &Called) -> String {
    match &called.target {
        Some((upstream, own)) => format!("{upstream}/{own}"),
        None => called.name.clone(),
    }
}
