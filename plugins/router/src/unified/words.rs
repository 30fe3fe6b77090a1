//! The words by which things are found.

use serde::Deserialize;

use super::catalogue::{Function, Skill};

/// So many bytes of what a server says about one thing can be searched.
pub(super) const TEXT_MAX: usize = 4_096;

/// What a definition says in words.
#[derive(Default, Deserialize)]
pub(super) struct Described {
    #[serde(default)]
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
}

impl Described {
    /// Words that are no text are none.
    pub(super) fn of(definition: &str) -> Self {
        serde_json::from_str(definition).unwrap_or_default()
    }
}

/// The words by which a tool is found: the name that clients see, the server's own name and the words in it, title,
/// description.
pub(super) fn text_of_tool(own: &str, described: &Described) -> String {
    let spoken = spoken(own);
    let mut parts = vec![described.name.as_str()];
    for name in [own, &spoken] {
        if !parts.contains(&name) {
            parts.push(name);
        }
    }
    parts.extend(described.title.as_deref());
    parts.extend(described.description.as_deref());
    within(&parts.join(" "))
}

/// As much of a text as can be searched.
fn within(text: &str) -> String {
    text.get(..text.floor_char_boundary(TEXT_MAX)).unwrap_or_default().to_owned()
}

/// The words that a name is made of: `get_forecast`, `get-forecast` and `getForecast` are `get forecast`.
fn spoken(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            words.push(' ');
        } else if lower && c.is_uppercase() {
            words.extend([' ', c]);
        } else {
            words.push(c);
        }
        lower = c.is_lowercase();
    }
    words
}

pub(super) fn text_of_function(one: &Function) -> String {
    let phrases = one.affordances.join(" ");
    within(&[one.name.as_str(), &one.description, &phrases].join(" "))
}

pub(super) fn text_of_skill(one: &Skill) -> String {
    let mut parts = vec![one.name.as_str(), one.description.as_str()];
    parts.extend(one.states.iter().map(String::as_str));
    within(&parts.join(" "))
}
