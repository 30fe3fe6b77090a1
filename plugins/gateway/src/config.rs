//! What an operator writes under `config:`.

use plugway_sdk::{BadConfig, config};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::rules::{LimitKey, RulesConfig};

/// Keys of the rules; the others are those of [`Options`].
const OF_RULES: [&str; 3] = ["rules", "default", "mode"];
const OF_OPTIONS: [&str; 10] = [
    "max_calls_per_minute",
    "limits",
    "blocked_tools",
    "allowed_tools",
    "blocked_prompts",
    "allowed_prompts",
    "blocked_resources",
    "allowed_resources",
    "confirm",
    "not_destructive",
];

/// Everything but the rules.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Calls of tools that each caller may make within any minute.
    pub max_calls_per_minute: Option<u32>,
    /// Further limits; all that a call falls under must have room.
    pub limits: Vec<LimitOptions>,
    /// Tools and functions that nobody may use.
    pub blocked_tools: Vec<String>,
    /// Tools and functions that may be used; absent or empty = all.
    pub allowed_tools: Option<Vec<String>>,
    /// The same for prompts.
    pub blocked_prompts: Vec<String>,
    /// The same for prompts.
    pub allowed_prompts: Option<Vec<String>>,
    /// The same for resources, by their URIs and the URIs of templates.
    pub blocked_resources: Vec<String>,
    /// The same for resources.
    pub allowed_resources: Option<Vec<String>>,
    /// Which calls of tools a person is asked about.
    pub confirm: Confirm,
    /// Tools that do not count as destructive, whatever they say of themselves.
    pub not_destructive: Vec<String>,
}

/// One limit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitOptions {
    /// Calls within a minute.
    pub calls_per_minute: u32,
    /// Calls at once, where a pause may be made up for: the limit is then a rate.
    #[serde(default)]
    pub burst: Option<u32>,
    /// Who shares it. Default: each caller has its own.
    #[serde(default)]
    pub per: Per,
    /// The tools that it is about; absent = all.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
}

/// Who shares a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Each caller has its own.
    #[default]
    Caller,
    /// All callers of a tenant; those without one share one.
    Tenant,
    /// All callers of a tool.
    Tool,
    /// Each caller for each tool.
    CallerTool,
    /// Everybody.
    All,
}

impl From<Per> for LimitKey {
    fn from(per: Per) -> Self {
        match per {
            Per::Caller => Self::Caller,
            Per::Tenant => Self::Tenant,
            Per::Tool => Self::Tool,
            Per::CallerTool => Self::CallerTool,
            Per::All => Self::All,
        }
    }
}

/// `confirm: off | destructive`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confirm {
    /// Nobody is asked, but where a rule says so.
    #[default]
    Off,
    /// A person is asked before a tool is called that counts as destructive.
    Destructive,
}

impl<'de> Deserialize<'de> for Confirm {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = Confirm;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`off` or `destructive`")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Confirm, E> {
                match word {
                    "off" => Ok(Confirm::Off),
                    "destructive" => Ok(Confirm::Destructive),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }

            // YAML readers of the old kind take `off` for `false`.
            fn visit_bool<E: Error>(self, is_on: bool) -> Result<Confirm, E> {
                if is_on {
                    return Err(E::invalid_value(Unexpected::Bool(is_on), &self));
                }
                Ok(Confirm::Off)
            }
        }
        reader.deserialize_any(Word)
    }
}

/// What was written, apart: the rules have a reader of their own.
pub fn parts(written: Map<String, Value>) -> Result<(Options, RulesConfig), BadConfig> {
    let known = OF_OPTIONS.iter().chain(&OF_RULES).copied();
    if let Some(key) = written.keys().find(|key| !known.clone().any(|known| known == **key)) {
        let known: Vec<&str> = known.collect();
        let sentence = format!("there is no such key; there are {}", known.join(", "));
        return Err(BadConfig::at(key, sentence));
    }
    let (rules, options): (Map<_, _>, Map<_, _>) =
        written.into_iter().partition(|(key, _)| OF_RULES.contains(&key.as_str()));
    let options = config::parse(&Value::Object(options).to_string())?;
    let rules = config::parse(&Value::Object(rules).to_string())?;
    Ok((options, rules))
}

/// JSON Schema of it all.
pub fn schema() -> String {
    let rules = crate::rules::config::SCHEMA.trim().trim_start_matches('{').trim_end_matches('}');
    [HEAD, rules.trim_end(), "}}"].concat()
}

/// The schema up to the keys of the rules.
const HEAD: &str = r#"{"type":"object","additionalProperties":false,"properties":{
"max_calls_per_minute":{"type":"integer","minimum":1,"maximum":1000000,"description":"Calls of tools that each caller may make within any minute."},
"limits":{"type":"array","maxItems":14,"description":"Further limits; all that a call falls under must have room.","items":{"type":"object","additionalProperties":false,"required":["calls_per_minute"],"properties":{
"calls_per_minute":{"type":"integer","minimum":1,"maximum":1000000},"burst":{"type":"integer","minimum":1,"maximum":1000000},
"per":{"enum":["caller","tenant","tool","caller_tool","all"],"default":"caller"},"tools":{"type":"array","items":{"type":"string"}}}}},
"blocked_tools":{"type":"array","items":{"type":"string"},"description":"Tools and functions that nobody may use: names, in which * and ? stand for others."},
"allowed_tools":{"type":"array","items":{"type":"string"},"description":"Tools and functions that may be used; absent or empty = all."},
"blocked_prompts":{"type":"array","items":{"type":"string"}},"allowed_prompts":{"type":"array","items":{"type":"string"}},
"blocked_resources":{"type":"array","items":{"type":"string"}},"allowed_resources":{"type":"array","items":{"type":"string"}},
"confirm":{"enum":["off","destructive"],"default":"off","description":"Which calls of tools a person is asked about."},
"not_destructive":{"type":"array","items":{"type":"string"},"description":"Tools that do not count as destructive."},"#;
