//! What an operator writes.

use plugway_sdk::BadConfig;
use serde::Deserialize;

use crate::lists::{About, Lists, Set};

/// Globs of one list.
const GLOBS_MAX: usize = 1_000;
/// Characters of one glob.
const GLOB_MAX: usize = 512;
/// Sets of lists in `also`.
const ALSO_MAX: usize = 16;

/// JSON Schema of [`Options`].
pub const SCHEMA: &str = r##"{"type":"object","additionalProperties":false,"$defs":{
"globs":{"type":"array","maxItems":1000,"items":{"type":"string","minLength":1,"maxLength":512}},
"lists":{"type":"object","additionalProperties":false,"properties":{
"enabled":{"$ref":"#/$defs/globs","minItems":1,"description":"Nothing but what one of these matches. Default: everything."},
"disabled":{"$ref":"#/$defs/globs","description":"Nothing that one of these matches."}}},
"set":{"type":"object","additionalProperties":false,"properties":{
"tools":{"$ref":"#/$defs/lists"},"prompts":{"$ref":"#/$defs/lists"},"resources":{"$ref":"#/$defs/lists"},"tags":{"$ref":"#/$defs/lists"}}}},
"properties":{
"tools":{"$ref":"#/$defs/lists","description":"Names of tools and functions."},
"prompts":{"$ref":"#/$defs/lists","description":"Names of prompts."},
"resources":{"$ref":"#/$defs/lists","description":"Names or URIs of resources and templates."},
"tags":{"$ref":"#/$defs/lists","description":"Tags that servers give."},
"also":{"type":"array","maxItems":16,"items":{"$ref":"#/$defs/set"},"description":"Further lists, which hold besides."},
"client_filters":{"type":"boolean","default":true,"description":"Whether clients may ask to see less."}}}"##;

/// Settings of the plugin in a connector; unknown keys are refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Of the names of tools and functions.
    pub tools: Written,
    /// Of the names of prompts.
    pub prompts: Written,
    /// Of the names and URIs of resources and templates.
    pub resources: Written,
    /// Of tags, whatever carries them.
    pub tags: Written,
    /// Further lists, which hold besides.
    pub also: Vec<WrittenSet>,
    /// Whether clients may ask to see less. Default `true`.
    pub client_filters: bool,
}

impl Default for Options {
    fn default() -> Self {
        let WrittenSet { tools, prompts, resources, tags } = WrittenSet::default();
        Self { tools, prompts, resources, tags, also: Vec::new(), client_filters: true }
    }
}

/// Lists as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// Nothing but what one of these matches; none = everything.
    pub enabled: Option<Vec<String>>,
    /// Nothing that one of these matches.
    pub disabled: Vec<String>,
}

/// Lists that hold besides others, as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrittenSet {
    /// As in [`Options`].
    pub tools: Written,
    /// As in [`Options`].
    pub prompts: Written,
    /// As in [`Options`].
    pub resources: Written,
    /// As in [`Options`].
    pub tags: Written,
}

/// What the operator wants, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Each holds.
    pub sets: Vec<Set>,
    /// Whether clients may ask to see less.
    pub client_filters: bool,
}

impl Options {
    /// Refuses what means nothing.
    pub fn checked(self) -> Result<Rules, BadConfig> {
        let Self { tools, prompts, resources, tags, also, client_filters } = self;
        if also.len() > ALSO_MAX {
            return Err(BadConfig::at("also", format!("more than {ALSO_MAX}")));
        }
        let mut sets = vec![WrittenSet { tools, prompts, resources, tags }.checked("")?];
        for (place, set) in also.into_iter().enumerate() {
            sets.push(set.checked(&format!("also[{place}]."))?);
        }
        sets.retain(|set| !set.is_empty());
        Ok(Rules { sets, client_filters })
    }
}

impl WrittenSet {
    fn checked(self, before: &str) -> Result<Set, BadConfig> {
        let mut set = Set::default();
        for (about, word, written) in [
            (Some(About::Tools), "tools", self.tools),
            (Some(About::Prompts), "prompts", self.prompts),
            (Some(About::Resources), "resources", self.resources),
            (None, "tags", self.tags),
        ] {
            let lists = written.checked(&format!("{before}{word}"))?;
            match about {
                Some(about) => *set.of_mut(about) = lists,
                None => set.tags = lists,
            }
        }
        Ok(set)
    }
}

impl Written {
    fn checked(self, path: &str) -> Result<Lists, BadConfig> {
        let Self { enabled, disabled } = self;
        if enabled.as_ref().is_some_and(Vec::is_empty) {
            let message = "an empty list enables nothing: leave it out, or disable \"*\"";
            return Err(BadConfig::at(format!("{path}.enabled"), message));
        }
        for (word, globs) in [("enabled", enabled.as_deref()), ("disabled", Some(&*disabled))] {
            let globs = globs.unwrap_or_default();
            if globs.len() > GLOBS_MAX {
                return Err(BadConfig::at(
                    format!("{path}.{word}"),
                    format!("more than {GLOBS_MAX}"),
                ));
            }
            for (place, glob) in globs.iter().enumerate() {
                let fits = !glob.is_empty()
                    && glob.chars().count() <= GLOB_MAX
                    && !glob.chars().any(char::is_control);
                if !fits {
                    let message = format!("write 1 to {GLOB_MAX} printable characters");
                    return Err(BadConfig::at(format!("{path}.{word}[{place}]"), message));
                }
            }
        }
        Ok(Lists { enabled, disabled })
    }
}
