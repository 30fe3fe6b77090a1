//! What the search tool answers: the reference's form, with title, parameters and availability besides.

use std::collections::HashSet;

use plugway_sdk::prelude::catalogue;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::bm25::Hit;
use super::cut;
use super::prepared::{Loadable, Parameter, Prepared, Server, Tool, Way};
use super::sight::Sight;

/// Most results of one category.
const TOP_MAX: i64 = 1_000;
/// Longest query, in bytes.
const QUERY_MAX: usize = 10_000;
/// Bytes of results, and of definitions that are read for them; what comes later is counted.
const ROOM: usize = 1 << 20;
/// So many bytes of a description are shown.
const DESCRIPTION_MAX: usize = 2_048;
/// So many bytes of an argument's description are shown.
const PARAMETER_MAX: usize = 200;
/// So many arguments are shown.
const PARAMETERS_MAX: usize = 64;

/// The tool's arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Words.
    pub query: String,
    /// Most results of each category, 5 if none is given.
    #[serde(default = "five")]
    pub top: i64,
    /// `all`, `tools` or `skills`; `all` if none is given.
    #[serde(default = "all")]
    pub category: String,
}

fn five() -> i64 {
    5
}

fn all() -> String {
    "all".to_owned()
}

/// The answer; the error is one sentence about the arguments. `load` is the router's own tool for skills, if the caller has
/// it.
pub fn answer(
    prepared: &Prepared,
    sight: &Sight,
    load: Option<&str>,
    question: &Question,
) -> Result<Value, String> {
    let Question { query, top, category } = question;
    let (tools, skills) = match category.as_str() {
        "all" => (true, true),
        "tools" => (true, false),
        "skills" => (false, true),
        other => {
            let error = format!("Invalid category '{other}'. Must be 'all', 'tools', or 'skills'.");
            return Ok(json!({"error": error}));
        }
    };
    if query.len() > QUERY_MAX {
        return Err(format!("`query` is longer than {QUERY_MAX} bytes."));
    }
    let Ok(top) = usize::try_from((*top).min(TOP_MAX)) else {
        return Err("`top` must not be below 0.".to_owned());
    };
    let (mut found_tools, mut found_skills) = (Vec::new(), Vec::new());
    if tools {
        let seen: Vec<bool> = prepared.tools.iter().map(|one| sight.sees(one.way)).collect();
        found_tools = prepared.tool_words.rank(query, top, &seen);
    }
    if skills {
        let seen: Vec<bool> = prepared.skills.iter().map(|one| sight.sees(one.way)).collect();
        found_skills = prepared.skill_words.rank(query, top, &seen);
    }
    let mut room = ROOM;
    let (tools, left) = shown(&found_tools, &mut room, |hit| tool(prepared, hit));
    let loading = Loading { prepared, sight, tool: load };
    let (skills, more) = shown(&found_skills, &mut room, |hit| loading.skill(hit));
    let none = tools.is_empty() && skills.is_empty();
    let mut answer = Map::new();
    answer.insert("tools".to_owned(), tools.into());
    answer.insert("skills".to_owned(), skills.into());
    if left + more > 0 {
        answer.insert("left_out".to_owned(), (left + more).into());
    }
    if none && top > 0 {
        let query = cut(query, PARAMETER_MAX);
        let hint = format!(
            "No tools or skills matched '{query}'. Broaden or rephrase the query, or pass an empty \
             string with top=999 to list the full catalog."
        );
        answer.insert("hint".to_owned(), hint.into());
    }
    Ok(answer.into())
}

/// What there is room for, and how many results there is none for.
fn shown(
    hits: &[Hit],
    room: &mut usize,
    item: impl Fn(Hit) -> Option<(Value, usize)>,
) -> (Vec<Value>, usize) {
    let mut items = Vec::with_capacity(hits.len());
    for (done, hit) in hits.iter().enumerate() {
        let Some((value, read)) = item(*hit) else { continue };
        match room.checked_sub(read.max(value.to_string().len())) {
            Some(rest) => *room = rest,
            None => return (items, hits.len() - done),
        }
        items.push(value);
    }
    (items, 0)
}

/// A result, and how many bytes were read for it.
fn tool(prepared: &Prepared, (place, score): Hit) -> Option<(Value, usize)> {
    let tool = prepared.tools.get(place as usize)?;
    let (way, server) = prepared.way(tool.way)?;
    let none = Vec::new();
    let (mut requires, mut produces) = (&none, &none);
    let (name, listed, access);
    if let Some(function) = &tool.function {
        (requires, produces) = (&function.requires, &function.produces);
        name = function.name.as_str();
        let description = function.description.clone();
        listed =
            Listed { description, parameters: function.parameters.clone(), ..Listed::default() };
        access = match &function.own {
            None => format!("Call via {}", way.tool),
            Some(own) => format!("Call via {}, where its name is {own}", way.tool),
        };
    } else {
        name = way.tool.as_str();
        listed = if server.up { Listed::of(way)? } else { Listed::away(tool) };
        access = format!("Call the tool {}", way.tool);
    }
    let parameters: Vec<Value> = listed.parameters.iter().map(parameter).collect();
    let mut value = json!({
        "name": name, "server_name": server.name, "description": listed.description,
        "execution_type": "mcp", "type": "tool", "to_access": accessed(access, server),
        "available": server.up, "score": score,
        "state_requires": requires, "state_produces": produces,
    });
    if let Some(value) = value.as_object_mut() {
        if server.up {
            value.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(title) = listed.title {
            value.insert("title".to_owned(), title.into());
        }
    }
    Some((value, listed.read))
}

fn parameter(one: &Parameter) -> Value {
    let Parameter { name, r#type, required, description } = one;
    let mut value = json!({"name": name, "required": required});
    if let Some(value) = value.as_object_mut() {
        for (key, text) in [("type", r#type), ("description", description)] {
            if !text.is_empty() {
                value.insert(key.to_owned(), text.as_str().into());
            }
        }
    }
    value
}

fn accessed(access: String, server: &Server) -> String {
    if server.up {
        return access;
    }
    format!("Not available now: the server {} is away. When it is back: {access}", server.name)
}

/// How skills are loaded by one caller.
struct Loading<'a> {
    prepared: &'a Prepared,
    sight: &'a Sight,
    /// The router's own tool, if the caller has it.
    tool: Option<&'a str>,
}

impl Loading<'_> {
    fn skill(&self, (place, score): Hit) -> Option<(Value, usize)> {
        let loadable = self.prepared.skills.get(place as usize)?;
        let (way, server) = self.prepared.way(loadable.way)?;
        let skill = &loadable.skill;
        let access = match self.tool {
            None => format!("Load with {}(skill_name=\"{}\")", way.tool, skill.name),
            Some(tool) if self.is_only(loadable, &server.name) => {
                format!("Load with {tool}(skill_name=\"{}\")", skill.name)
            }
            Some(tool) => format!(
                "Load with {tool}(skill_name=\"{}\", upstream=\"{}\")",
                skill.name, server.name
            ),
        };
        let value = json!({
            "name": skill.name, "server_name": server.name, "description": skill.description,
            "execution_type": "skill", "type": "skill", "to_access": accessed(access, server),
            "available": server.up, "score": score, "state_requires": [], "state_produces": [],
        });
        Some((value, 0))
    }

    /// Whether the caller sees no skill of this name at another server.
    fn is_only(&self, loadable: &Loadable, server: &str) -> bool {
        !self.prepared.skills.iter().any(|other| {
            other.skill.name == loadable.skill.name
                && self.sight.sees(other.way)
                && self.prepared.way(other.way).is_some_and(|(_, of)| of.name != server)
        })
    }
}

/// A tool as the caller's list shows it.
#[derive(Default)]
struct Listed {
    title: Option<String>,
    description: String,
    parameters: Vec<Parameter>,
    read: usize,
}

#[derive(Default, Deserialize)]
struct Definition {
    title: Option<String>,
    description: Option<String>,
    #[serde(default, rename = "inputSchema")]
    input: Value,
}

impl Listed {
    /// None if the caller's list does not have it.
    fn of(way: &Way) -> Option<Self> {
        let text = catalogue::entry(catalogue::find("tool", &way.tool)?)?;
        let Definition { title, description, input } =
            serde_json::from_str(&text).unwrap_or_default();
        Some(Self {
            title: title.map(|title| cut(&title, PARAMETER_MAX)),
            description: cut(&description.unwrap_or_default(), DESCRIPTION_MAX),
            parameters: parameters(&input),
            read: text.len(),
        })
    }

    fn away(tool: &Tool) -> Self {
        Self { description: tool.description.clone().unwrap_or_default(), ..Self::default() }
    }
}

/// The arguments in a schema, in its order, the required ones first.
fn parameters(schema: &Value) -> Vec<Parameter> {
    let required: HashSet<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut parameters: Vec<Parameter> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| Parameter {
            name: cut(name, PARAMETER_MAX),
            r#type: type_of(property),
            required: required.contains(name.as_str()),
            description: property
                .get("description")
                .and_then(Value::as_str)
                .map(|text| cut(text, PARAMETER_MAX))
                .unwrap_or_default(),
        })
        .collect();
    parameters.sort_by_key(|one| !one.required);
    parameters.truncate(PARAMETERS_MAX);
    parameters
}

/// `string`, or `string | null`; empty where the schema does not say it in its first line.
fn type_of(property: &Value) -> String {
    match property.get("type") {
        Some(Value::String(name)) => cut(name, PARAMETER_MAX),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).take(8).collect();
            cut(&names.join(" | "), PARAMETER_MAX)
        }
        _ => String::new(),
    }
}
