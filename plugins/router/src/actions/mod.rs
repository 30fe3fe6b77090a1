//! A tool that does one of several things, as its argument `action` says, becomes a tool for each of them.
//!
//! In reading order: [`choice`] finds the actions of an argument, [`narrow`] leaves of a schema what one of them takes,
//! [`notes`] says whether one only reads or destroys, [`split`] puts the tools together, and
//! [`tools`] gives those of one server their names.

pub mod choice;
pub mod narrow;
pub mod notes;
pub mod tools;

pub use tools::Split;

use serde_json::{Value, json};

use crate::object::Object;
use choice::Action;

/// The argument that names the action.
pub const ARGUMENT: &str = "action";

/// A tool has at most so many actions, or it stays whole.
pub const ACTIONS_MAX: usize = 64;

/// The tools that one server's tools are split into have at most so many bytes together; what is above stays whole.
pub const BYTES_MAX: usize = 4 << 20;

/// One tool of those that a tool is split into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The action.
    pub action: String,
    /// JSON of the tool; its name is still that of the whole one.
    pub definition: String,
    /// JSON object of the arguments that every call of it has: the action.
    pub arguments: String,
}

/// The tools that a tool is split into; none if it has no argument `action` whose values are listed, or if that could be more
/// text than `room`. Nothing is made that does not fit.
pub fn split(definition: &str, room: usize) -> Option<Vec<Part>> {
    let tool = Object::parse(definition)?;
    let schema = Object::parse(tool.get("inputSchema")?)?;
    let actions = choice::of(&schema)?;
    if definition.len().saturating_mul(actions.len()) > room {
        return None;
    }
    Some(actions.into_iter().map(|action| part(&tool, &schema, action)).collect())
}

fn part(tool: &Object<'_>, schema: &Object<'_>, action: Action) -> Part {
    let Action { name, about } = action;
    let mut own = tool.clone();
    let narrowed = narrow::narrowed(schema, &name);
    own.set("inputSchema", narrowed);
    if let Some(title) = tool.text("title") {
        own.set("title", Value::from(format!("{title}: {name}")).to_string());
    }
    let whole = tool.text("description").unwrap_or_default();
    let description = match about {
        Some(about) => format!("{about}\n\nThe action `{name}` of: {whole}"),
        None => format!("The action `{name}` of: {whole}"),
    };
    own.set("description", Value::from(description).to_string());
    own.set("annotations", notes::of(tool.get("annotations"), &name));
    let arguments = json!({ ARGUMENT: name }).to_string();
    Part { definition: own.to_string(), arguments, action: name }
}

/// How many bytes the parts of a tool have.
pub fn size(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.definition.len()).sum()
}
