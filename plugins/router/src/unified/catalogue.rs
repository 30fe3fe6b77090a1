//! What a code-execution server says of its functions and skills: the JSON of its `GET /catalog`, read as data. Types are
//! opaque texts; nothing is looked up or run.
//!
//! Connectors have such a catalogue, too, with the functions of all servers behind them: `server_name` says whose each is,
//! and `via`, which plugway adds, the tool of the connector that runs or loads it.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::bounded::{Few, Members};
use crate::hidden;

/// The document's name among those that the host read from a server.
pub const DOCUMENT: &str = "catalog";
/// The document that says why there is none now, although there may be one.
pub const UNREAD: &str = "catalog-unread";

/// Functions and skills of one server that are read; more are left out.
const THINGS_MAX: usize = 10_000;
/// Longest name, in bytes.
const NAME_MAX: usize = 256;
/// Longest JSON text of one of them, and of the limits of a tool: what is longer is not even parsed.
pub(super) const THING_MAX: usize = 64 << 10;
/// Tools whose limits are read.
const EXECUTIONS_MAX: usize = 4_096;
/// Arguments and states of one function that are read; what is kept of them is no more.
const PARTS_MAX: usize = 32;
/// Phrases of one function that are read.
const PHRASES_MAX: usize = 256;

/// A catalogue. Keys that are not here are of no use to the router.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue<'a> {
    /// The server's own name.
    pub server_name: Option<String>,
    /// Functions that code may call, each with the text of the JSON object that it was read from.
    pub functions: Vec<(Function, &'a str)>,
    /// Instructions that can be loaded, in the same way.
    pub skills: Vec<(Skill, &'a str)>,
    /// Limits of running code, the text of a JSON object.
    pub execution: Option<&'a str>,
    /// The same for each tool that runs code, where a connector says it.
    pub executions: BTreeMap<String, &'a str>,
    /// So many functions and skills are left out: they have no proper name, are too long, have text that hides what it says,
    /// or are none.
    pub odd: usize,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(default)]
    server_name: Option<String>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    tools: Few<&'a RawValue, THINGS_MAX>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    skills: Few<&'a RawValue, THINGS_MAX>,
    #[serde(borrow, default)]
    execution: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    executions: Members<'a, EXECUTIONS_MAX>,
}

/// A function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Function {
    /// Its name in the code, or the one under which a connector shows it.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Its name in the code, where a connector shows it under another one.
    pub own_name: Option<String>,
    /// The server that has it, where this is the catalogue of a connector.
    pub server_name: Option<String>,
    /// The tool that runs it, where a connector says so.
    pub via: Option<String>,
    /// What it does.
    #[serde(deserialize_with = "or_default")]
    pub description: String,
    /// Arguments that must be given.
    #[serde(deserialize_with = "few")]
    pub required_parameters: Vec<Parameter>,
    /// Arguments that may be given.
    #[serde(deserialize_with = "few")]
    pub optional_parameters: Vec<Parameter>,
    /// The states of a workflow that it goes from and to.
    #[serde(deserialize_with = "or_default")]
    pub state_transition: Transition,
    /// What it is good for, in phrases.
    #[serde(deserialize_with = "phrases")]
    pub affordances: Vec<String>,
}

/// An argument of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Parameter {
    /// Its name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Its type, in the server's words.
    #[serde(deserialize_with = "or_default")]
    pub r#type: String,
    /// What it is for.
    pub description: Option<String>,
}

/// States before and after.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Transition {
    /// One of these is needed; none = it can be the first step.
    #[serde(deserialize_with = "few")]
    pub requires: Vec<String>,
    /// All of these hold afterwards.
    #[serde(deserialize_with = "few")]
    pub produces: Vec<String>,
}

/// A skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skill {
    /// Its name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// What it is about.
    #[serde(deserialize_with = "or_default")]
    pub description: String,
    /// The domain that it belongs to.
    #[serde(deserialize_with = "or_default")]
    pub domain: String,
    /// States of the workflow that it helps with.
    #[serde(deserialize_with = "few")]
    pub states: Vec<String>,
    /// The server that has it, where this is the catalogue of a connector.
    #[serde(skip_serializing)]
    pub server_name: Option<String>,
    /// The tool that loads it, where a connector says so.
    #[serde(skip_serializing)]
    pub via: Option<String>,
}

/// Servers write `null` where they have nothing to say.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    or_default(from).map(|Few::<T, PARTS_MAX> { first, .. }| first)
}

fn phrases<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    or_default(from).map(|Few::<String, PHRASES_MAX> { first, .. }| first)
}

impl<'a> Catalogue<'a> {
    /// Reads a catalogue. One function that cannot be read costs no other.
    pub fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        let raw: Raw<'a> = serde_json::from_str(text)?;
        let mut odd = 0;
        let functions = things(&raw.tools, &mut odd, |one: &mut Function| {
            let Transition { requires, produces } = &mut one.state_transition;
            requires.retain(|state| is_proper(state));
            produces.retain(|state| is_proper(state));
            is_proper(&one.name) && one.own_name.as_deref().is_none_or(is_proper)
        });
        let skills = things(&raw.skills, &mut odd, |one: &mut Skill| {
            one.states.retain(|state| is_proper(state));
            is_proper(&one.name)
        });
        let executions = raw.executions.0.into_iter();
        let executions = executions
            .filter(|(tool, _)| tool.len() <= NAME_MAX)
            .filter_map(|(tool, said)| Some((tool.into_owned(), object(said)?)));
        Ok(Self {
            server_name: raw.server_name,
            functions,
            skills,
            execution: raw.execution.and_then(object),
            executions: executions.collect(),
            odd,
        })
    }

    /// Whether it is that of a connector: what it lists is of servers behind it.
    pub fn is_a_connectors(&self) -> bool {
        let functions = self.functions.iter().map(|(one, _)| (&one.via, &one.server_name));
        let mut all =
            functions.chain(self.skills.iter().map(|(one, _)| (&one.via, &one.server_name)));
        all.any(|(via, server)| via.is_some() || (server.is_some() && *server != self.server_name))
    }
}

/// The text of a JSON object that is not too long and shows what it says.
fn object(raw: &RawValue) -> Option<&str> {
    let text = raw.get();
    (text.len() <= THING_MAX && text.starts_with('{') && hidden::first(text).is_none())
        .then_some(text)
}

fn things<'a, T: DeserializeOwned>(
    raw: &Few<&'a RawValue, THINGS_MAX>,
    odd: &mut usize,
    proper: impl Fn(&mut T) -> bool,
) -> Vec<(T, &'a str)> {
    let mut read = Vec::with_capacity(raw.first.len());
    for one in &raw.first {
        let thing = object(one).and_then(|text| {
            let mut thing = serde_json::from_str(text).ok()?;
            proper(&mut thing).then_some((thing, text))
        });
        match thing {
            Some(thing) => read.push(thing),
            None => *odd += 1,
        }
    }
    *odd += raw.more;
    read
}

/// Whether a name shows what it is: not empty, not long, no characters that are not seen or turn the text around.
fn is_proper(name: &str) -> bool {
    let unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    !name.trim().is_empty() && name.len() <= NAME_MAX && !name.chars().any(unseen)
}
