//! What a code-execution server says of its functions and skills: the JSON of its `GET /catalog`, read as data. Types are
//! opaque texts; nothing is looked up or run.

use serde::{Deserialize, Serialize};

/// The document's name among those that the host read from a server.
pub const DOCUMENT: &str = "catalog";

/// A catalogue. Keys that are not here are of no use to the router.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Catalogue {
    /// Functions that code may call.
    pub tools: Vec<Function>,
    /// Instructions that can be loaded.
    pub skills: Vec<Skill>,
}

/// A function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Function {
    /// Its name in the code.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Arguments that must be given.
    pub required_parameters: Vec<Parameter>,
    /// Arguments that may be given.
    pub optional_parameters: Vec<Parameter>,
    /// The states of a workflow that it goes from and to.
    pub state_transition: Transition,
    /// What it is good for, in phrases.
    pub affordances: Vec<String>,
}

/// An argument of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type, in the server's words.
    pub r#type: String,
    /// What it is for.
    pub description: Option<String>,
}

/// States before and after.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Transition {
    /// One of these is needed; none = it can be the first step.
    pub requires: Vec<String>,
    /// All of these hold afterwards.
    pub produces: Vec<String>,
}

/// A skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// The domain that it belongs to.
    pub domain: String,
    /// States of the workflow that it helps with.
    pub states: Vec<String>,
}
