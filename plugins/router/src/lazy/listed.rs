//! Definitions of tools as the caller may see them, whether its list shows them or not.

use plugway_sdk::prelude::catalogue;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What is told of a definition. Schemas stay the bytes that the server sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Definition {
    /// For people.
    pub title: Option<String>,
    /// What the tool does.
    pub description: Option<String>,
    /// Schema of its arguments.
    #[serde(rename = "inputSchema")]
    pub input: Option<Box<RawValue>>,
    /// Schema of its structured content.
    #[serde(rename = "outputSchema")]
    pub output: Option<Box<RawValue>>,
    /// Hints about it.
    pub annotations: Option<Box<RawValue>>,
}

/// A definition and how long its text is; none if the caller does not see the tool, or its server is away.
pub fn of(name: &str) -> Option<(Definition, usize)> {
    let text = catalogue::entry(catalogue::find("tool", name)?)?;
    Some((serde_json::from_str(&text).unwrap_or_default(), text.len()))
}

/// As JSON text.
pub fn json(value: &impl Serialize) -> String {
    // Nothing here can fail: keys are texts.
    serde_json::to_string(value).unwrap_or_default()
}
