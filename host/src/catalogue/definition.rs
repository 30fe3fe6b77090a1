//! What is read in the definition of an entry.

use serde::Deserialize;

use super::entry::{EntryKind, Hints};
use crate::protocol::{message, scan};

/// The resource that is a tool's user interface (`_meta.ui.resourceUri`; MCP Apps).
pub(super) fn ui(definition: &str) -> Option<String> {
    let mut found = definition;
    for name in ["_meta", "ui", "resourceUri"] {
        found = found.get(scan::member(found, name)?.range())?;
    }
    message::string(found).map(std::borrow::Cow::into_owned)
}

/// Levels around a definition in an answer: the list, the result, the message.
const AROUND: u32 = 3;

/// Whether a text is a JSON object that is not nested too deep. An array would be read as the members in their order.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && scan::check(text, AROUND).is_ok()
}

/// What a definition says that the table is made of.
pub(super) struct Definition {
    pub(super) key: String,
    pub(super) hints: Hints,
}

#[derive(Deserialize)]
struct Raw {
    name: Option<String>,
    uri: Option<String>,
    #[serde(rename = "uriTemplate")]
    uri_template: Option<String>,
    #[serde(default)]
    annotations: Option<Annotations>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Annotations {
    #[serde(rename = "readOnlyHint")]
    read_only: Option<bool>,
    #[serde(rename = "destructiveHint")]
    destructive: Option<bool>,
    #[serde(rename = "idempotentHint")]
    idempotent: Option<bool>,
    #[serde(rename = "openWorldHint")]
    open_world: Option<bool>,
}

impl Definition {
    /// Reads it; none where it is no object, or does not name itself.
    pub(super) fn parse(kind: EntryKind, text: &str) -> Option<Self> {
        let raw: Raw = serde_json::from_str(text).ok().filter(|_| is_object(text))?;
        let key = match kind {
            EntryKind::Tool | EntryKind::Prompt | EntryKind::Function => raw.name,
            EntryKind::Resource => raw.uri,
            EntryKind::Template => raw.uri_template,
        }?;
        let notes = raw.annotations.unwrap_or_default();
        let hints = Hints {
            read_only: notes.read_only,
            destructive: notes.destructive,
            idempotent: notes.idempotent,
            open_world: notes.open_world,
        };
        Some(Self { key, hints })
    }
}
