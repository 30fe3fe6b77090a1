//! What an operator writes: about the router, and about an upstream's names.

use std::collections::BTreeMap;
use std::fmt;

use plugway_sdk::{BadConfig, config, glob};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Bridges of one connector.
const BRIDGES_MAX: usize = 1_000;

/// JSON Schema of [`Options`].
pub const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"properties":{
"unified_tools":{"enum":[false,true,"search"],"default":false,"description":"Whether clients see search_NAME_tools, and plan_NAME_workflow where servers have workflows and load_NAME_skill where they have skills; search: only the first."},
"bridges":{"type":"array","maxItems":1000,"description":"Ways between the workflows of servers.","items":{"type":"object","additionalProperties":false,"required":["from_state","to_state"],"properties":{
"from_state":{"type":"string","minLength":1},"to_state":{"type":"string","minLength":1},"description":{"type":"string","default":""}}}}}}"#;

/// Settings of the router in a connector; unknown keys are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Which tools clients see that the router answers itself over all servers. Default `false`: none.
    pub unified_tools: Unified,
    /// Ways between the workflows of servers.
    pub bridges: Vec<Bridge>,
}

/// `unified_tools: false | true | search`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unified {
    /// None.
    #[default]
    None,
    /// Only the search.
    Search,
    /// Searching, planning and loading of skills.
    All,
}

impl<'de> Deserialize<'de> for Unified {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = Unified;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true`, `false` or `search`")
            }

            fn visit_bool<E: Error>(self, on: bool) -> Result<Unified, E> {
                Ok(if on { Unified::All } else { Unified::None })
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Unified, E> {
                match word {
                    "search" => Ok(Unified::Search),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }
        }
        reader.deserialize_any(Word)
    }
}

/// A way from a state that one server's functions produce to one that another server's functions require.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bridge {
    /// The state where it begins.
    pub from_state: String,
    /// The state where it ends.
    pub to_state: String,
    /// What has to be passed on, in words.
    #[serde(default)]
    pub description: String,
}

impl Options {
    /// Refuses what means nothing.
    pub fn checked(self) -> Result<Self, BadConfig> {
        if !self.bridges.is_empty() && self.unified_tools != Unified::All {
            let message = "bridges are part of the plan that `unified_tools: true` offers";
            return Err(BadConfig::at("bridges", message));
        }
        if self.bridges.len() > BRIDGES_MAX {
            return Err(BadConfig::at("bridges", format!("more than {BRIDGES_MAX}")));
        }
        for (place, bridge) in self.bridges.iter().enumerate() {
            for (key, state) in [("from_state", &bridge.from_state), ("to_state", &bridge.to_state)]
            {
                if state.is_empty() {
                    return Err(BadConfig::at(
                        format!("bridges[{place}].{key}"),
                        "a state is needed",
                    ));
                }
            }
        }
        Ok(self)
    }
}

/// Settings of one upstream; unknown keys are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Whether names begin with the upstream's configured name.
    #[serde(default)]
    pub prefix: Prefix,
    /// The upstream's own name for a tool or prompt, to the name that clients see; no prefix is added.
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    /// Globs over the upstream's own names of tools and prompts: what matches none is not served. None = all.
    #[serde(default)]
    pub expose: Option<Vec<String>>,
    /// Globs over the same names: what matches one is not served, whatever `expose` says.
    #[serde(default)]
    pub hide: Vec<String>,
    /// Whether `aliases` and `expose` mean the functions of a code-execution server rather than its tools.
    #[serde(default)]
    pub of_functions: bool,
    /// Whether a tool with a listed argument `action` is shown as a tool for each action.
    #[serde(default)]
    pub split_actions: bool,
    /// Tags of tools that are not served, in lower case.
    #[serde(default)]
    pub hide_tags: Vec<String>,
}

/// `prefix: always | never`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prefix {
    /// `weather_forecast`
    #[default]
    Always,
    /// `forecast`
    Never,
}

impl Settings {
    /// Reads the JSON that the host hands over; no text at all is the default.
    pub fn parse(json: &str) -> Result<Self, BadConfig> {
        let settings: Self = config::parse(json)?;
        match settings.aliases.iter().find(|(_, shown)| shown.is_empty()) {
            Some((own, _)) => Err(BadConfig::at(format!("aliases.{own}"), "a name is needed")),
            None => Ok(settings),
        }
    }

    /// These settings for the tools of a code-execution server: words that mean its functions leave its tools alone.
    #[must_use]
    pub fn for_code_execution(&self) -> Self {
        if !self.of_functions {
            return self.clone();
        }
        Self { aliases: BTreeMap::new(), expose: None, ..self.clone() }
    }

    /// Whether a tool or prompt with this own name is served.
    pub fn exposes(&self, own: &str) -> bool {
        let matches = |globs: &[String]| globs.iter().any(|glob| glob::matches(glob, own));
        self.expose.as_deref().is_none_or(matches) && !matches(&self.hide)
    }
}
