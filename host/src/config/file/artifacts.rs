//! Links to files of servers.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Span;

/// Links to files in the answers of servers (`ORIGIN/artifacts/..`), which become plugway's own.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "artifacts", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys: `links` and `lifetime`")]
pub struct Artifacts {
    /// Who may follow such a link. `caller`: who was given it, with its credential. `holder`: whoever has it, as a browser does
    /// that sends no credential. `untouched`: links stay as the server wrote them. Default `caller`.
    pub links: Option<LinksWord>,
    /// How long a link is good, from when an answer last held it. Default `1h`.
    pub lifetime: Option<Span>,
}

/// Who may follow a link to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "links", rename_all = "kebab-case")]
pub enum LinksWord {
    /// Who was given it. Where callers are not identified, that is whoever has it.
    Caller,
    /// Whoever has it.
    Holder,
    /// Links are not replaced.
    Untouched,
}
