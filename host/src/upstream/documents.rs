//! Documents that plugway reads of a server besides its lists, for the router (`upstream-view.documents`).

use std::sync::Arc;

use super::headed::Headed;
use super::keeper::Lists;
use crate::pipeline::code::executes;
use crate::protocol::{message, scan};

/// The name of a catalogue of functions and skills: the JSON object of `GET /catalog`.
pub(super) const CATALOG: &str = "catalog";
/// The name of one sentence that says why there is no catalogue now, although there may be one.
pub(super) const UNREAD: &str = "catalog-unread";

/// A catalogue of functions, or why it is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Document {
    /// JSON text of an object.
    Text(Arc<str>),
    /// It could not be read, and never was.
    Unread(Arc<str>),
}

impl Document {
    /// Whether it is a catalogue.
    pub(super) fn is_known(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    /// As the router gets it.
    fn named(self) -> (Arc<str>, Arc<str>) {
        match self {
            Self::Text(text) => (CATALOG.into(), text),
            Self::Unread(why) => (UNREAD.into(), why),
        }
    }
}

/// Reads the documents of a server: one that runs code has a catalogue of functions. Nobody else is asked.
pub(super) async fn read<P: Lists>(peer: &P, runs_code: bool) -> Vec<(Arc<str>, Arc<str>)> {
    if !runs_code {
        return Vec::new();
    }
    peer.catalog().await.map(Document::named).into_iter().collect()
}

/// Whether documents say that there is a catalogue which could not be read.
pub(super) fn are_missing(documents: &[(Arc<str>, Arc<str>)]) -> bool {
    documents.iter().any(|(name, _)| **name == *UNREAD)
}

/// Whether a server that lists these tools runs code.
pub(super) fn run_code(listed: &Headed) -> bool {
    listed.tools.iter().any(|tool| runs_code(tool))
}

/// Whether a definition (JSON text) is one of a tool that runs code.
fn runs_code(tool: &str) -> bool {
    let name = scan::member(tool, "name").and_then(|span| tool.get(span.range()));
    let Some(name) = name.and_then(message::string) else { return false };
    executes(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_run_code_are_known_by_a_tool() {
        let of = |name: &str| runs_code(&serde_json::json!({"name": name}).to_string());
        for name in
            ["execute_chem_code", "execute_code", "hub_execute_chem_code", "execute_a_b_code"]
        {
            assert!(of(name), "{name}");
        }
        for name in ["echo", "execute", "execute_sql", "run_code", "executed_code", "code"] {
            assert!(!of(name), "{name}");
        }
        assert!(!runs_code("7") && !runs_code(r#"{"name": 7}"#));
    }
}
