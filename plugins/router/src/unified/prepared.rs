//! What a shape leaves for the calls after it. It travels as the document beside the shape, since no instance may count on
//! being the one that shaped, and an instance reads it once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bm25::Index;
use super::catalogue::Skill;
use crate::config::Bridge;

/// Everything that the router's own tools answer from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Servers that have something to find, in the order of the configuration.
    pub servers: Vec<Server>,
    /// Tools that clients call, through which the things below are reached.
    pub ways: Vec<Way>,
    /// What can be found as a tool, in the order of servers and of their lists.
    pub tools: Vec<Tool>,
    /// What can be loaded, in the same order.
    pub skills: Vec<Loadable>,
    /// The words of `tools`.
    pub tool_words: Index,
    /// The words of `skills`.
    pub skill_words: Index,
    /// Bridges that hold.
    pub bridges: Vec<Bridge>,
    /// The server's own names of the tools that load skills, by places in `ways`.
    pub owns: BTreeMap<u32, String>,
    /// What the catalogue for others says, in lines (see [`published`](super::published)).
    pub published: String,
    /// How many skills of each way there was no room for in it.
    pub unpublished: BTreeMap<u32, u32>,
    /// Places in `tools` of the functions that there was no room for in it.
    pub unpublished_functions: Vec<u32>,
}

/// A server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its configured name.
    pub name: String,
    /// Whether lists show its tools.
    pub up: bool,
}

/// A tool as clients call it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// The name that clients see.
    pub tool: String,
    /// Place in `servers`.
    pub server: u32,
}

/// What can be found as a tool: the tool of its way, or a function that is called in code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tool {
    /// Place in `ways`.
    pub way: u32,
    /// The description of a tool whose server is away, since no list has it.
    pub description: Option<String>,
    /// Set for a function.
    pub function: Option<Box<Function>>,
}

/// A function as the tools tell of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name, as it is shown.
    pub name: String,
    /// Its name in the code, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// What it does.
    pub description: String,
    /// Its arguments, the required ones first.
    pub parameters: Vec<Parameter>,
    /// States, one of which is needed, in rising order.
    pub requires: Vec<String>,
    /// States that hold afterwards, in rising order.
    pub produces: Vec<String>,
}

/// An argument as the tools tell of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type in the words of its server, empty if it says none.
    pub r#type: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it is for, empty if the server does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// A skill, and how it is loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loadable {
    /// Place in `ways`.
    pub way: u32,
    /// The skill.
    pub skill: Skill,
}

impl Function {
    /// What the host knows it by, in place of what the text held.
    pub fn write_key(&self, server: &str, key: &mut String) {
        key.clear();
        key.extend([server, ".", &self.name]);
        if let Some(own) = &self.own {
            key.extend(["\t", own]);
        }
    }
}

impl Prepared {
    /// The way at a place, with its server.
    pub fn way(&self, place: u32) -> Option<(&Way, &Server)> {
        let way = self.ways.get(place as usize)?;
        Some((way, self.servers.get(way.server as usize)?))
    }

    /// Whether a function goes from or to a state, so that there is something to plan.
    pub fn has_states(&self) -> bool {
        let mut functions = self.tools.iter().filter_map(|tool| tool.function.as_deref());
        functions.any(|one| !(one.requires.is_empty() && one.produces.is_empty()))
    }
}
