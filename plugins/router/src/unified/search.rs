//! What the search tool answers: the reference's form, with title, parameters and availability besides.

use std::collections::HashSet;

use plugway_sdk::prelude::catalogue;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::bm25::Hit;
use super::cut;
use super::prepared::{Loadable, Parameter, Prepared, Server, Tool, Way};
use super::rooms::Rooms;
use super::sight::Sight;

/// Most results of one category.
const TOP_MAX: i64 = 1_000;
/// Longest query, in bytes.
const QUERY_MAX: usize = 10_000;
/// Bytes of results; what there is no room for is counted.
const ROOM: usize = 1 << 20;
/// Bytes of definitions that are read for them; tools beyond are shown without what stands in theirs.
const READING: usize = 1 << 20;
/// Longest definition whose arguments are read.
const DEFINITION_MAX: usize = 64 << 10;
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
            let other = cut(other, PARAMETER_MAX);
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
        found_tools = prepared.tool_words.rank(query, top, sight.of_tools());
    }
    if skills {
        let seen: Vec<bool> = prepared.skills.iter().map(|one| sight.sees(one.way)).collect();
        found_skills = prepared.skill_words.rank(query, top, &seen);
    }
    let of_tools = found_tools.iter().filter_map(|hit| prepared.tools.get(hit.0 as usize));
    let of_skills = found_skills.iter().filter_map(|hit| prepared.skills.get(hit.0 as usize));
    let ways = of_tools.map(|one| one.way).chain(of_skills.map(|one| one.way));
    let servers: HashSet<&str> = ways.filter_map(|way| name_of(prepared, way)).collect();
    let mut room = Rooms::new(ROOM, servers.iter().copied());
    let mut reading = Rooms::new(READING, servers);
    let tool = |hit: Hit| Some((name_of(prepared, prepared.tools.get(hit.0 as usize)?.way)?, hit));
    let found_tools = found_tools.into_iter().filter_map(tool);
    let (tools, left) =
        shown(found_tools, &mut room, |hit| self::tool(prepared, hit, &mut reading));
    let loading = Loading { prepared, sight, tool: load };
    let skill =
        |hit: Hit| Some((name_of(prepared, prepared.skills.get(hit.0 as usize)?.way)?, hit));
    let found_skills = found_skills.into_iter().filter_map(skill);
    let (skills, more) = shown(found_skills, &mut room, |hit| loading.skill(hit));
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

/// The name of the server of a way.
fn name_of(prepared: &Prepared, way: u32) -> Option<&str> {
    Some(&prepared.way(way)?.1.name)
}

/// What there is room for, and how many results there is none for. Each comes with the name of its server.
fn shown<'a>(
    hits: impl Iterator<Item = (&'a str, Hit)>,
    room: &mut Rooms<'a>,
    mut item: impl FnMut(Hit) -> Option<Value>,
) -> (Vec<Value>, usize) {
    let (mut items, mut left) = (Vec::new(), 0);
    for (server, hit) in hits {
        if room.is_full(server) {
            left += 1;
            continue;
        }
        let Some(value) = item(hit) else { continue };
        if room.take(server, value.to_string().len()) {
            items.push(value);
        } else {
            left += 1;
        }
    }
    (items, left)
}

fn tool<'a>(prepared: &'a Prepared, (place, score): Hit, reading: &mut Rooms<'a>) -> Option<Value> {
    let tool = prepared.tools.get(place as usize)?;
    let (way, server) = prepared.way(tool.way)?;
    let none = Vec::new();
    let (mut requires, mut produces) = (&none, &none);
    let (name, listed, access);
    if let Some(function) = &tool.function {
        (requires, produces) = (&function.requires, &function.produces);
        name = function.name.as_str();
        let description = function.description.clone();
        let parameters = server.up.then(|| function.parameters.clone());
        listed = Listed { description, parameters, title: None };
        access = match &function.own {
            None => format!("Call via {}", way.tool),
            Some(own) => format!("Call via {}, where its name is {own}", way.tool),
        };
    } else {
        name = way.tool.as_str();
        listed =
            if server.up { Listed::of(way, &server.name, reading)? } else { Listed::away(tool) };
        access = format!("Call the tool {}", way.tool);
    }
    let mut value = json!({
        "name": name, "server_name": server.name, "description": listed.description,
        "execution_type": "mcp", "type": "tool", "to_access": accessed(access, server),
        "available": server.up, "score": score,
        "state_requires": requires, "state_produces": produces,
    });
    if let Some(value) = value.as_object_mut() {
        if let Some(parameters) = listed.parameters {
            let parameters: Vec<Value> = parameters.iter().map(parameter).collect();
            value.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(title) = listed.title {
            value.insert("title".to_owned(), title.into());
        }
    }
    Some(value)
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
    fn skill(&self, (place, score): Hit) -> Option<Value> {
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
        Some(json!({
            "name": skill.name, "server_name": server.name, "description": skill.description,
            "execution_type": "skill", "type": "skill", "to_access": accessed(access, server),
            "available": server.up, "score": score, "state_requires": [], "state_produces": [],
        }))
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
    /// None where they are not known, or not read.
    parameters: Option<Vec<Parameter>>,
}

/// What a definition says, with or without its schema.
#[derive(Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de> + Default"))]
struct Definition<S> {
    title: Option<String>,
    description: Option<String>,
    #[serde(default, rename = "inputSchema")]
    input: S,
}

impl Listed {
    /// None if the caller's list does not have it. A definition that is too long, or one more than there is room for, costs
    /// no more than its arguments; those of the same server behind it are not looked at any more.
    fn of<'a>(way: &Way, server: &'a str, reading: &mut Rooms<'a>) -> Option<Self> {
        if reading.is_full(server) {
            return Some(Self::default());
        }
        let text = catalogue::entry(catalogue::find("tool", &way.tool)?)?;
        let has_room = reading.take(server, text.len());
        if has_room && text.len() <= DEFINITION_MAX {
            let read: Option<Definition<Value>> = serde_json::from_str(&text).ok();
            let parameters = read.as_ref().map(|read| parameters(&read.input));
            return Some(Self { parameters: parameters.or(Some(Vec::new())), ..Self::told(read) });
        }
        let read: Option<Definition<IgnoredAny>> = serde_json::from_str(&text).ok();
        Some(Self::told(read))
    }

    fn told<S>(read: Option<Definition<S>>) -> Self {
        let (title, description) = read.map_or((None, None), |read| (read.title, read.description));
        Self {
            title: title.map(|title| cut(&title, PARAMETER_MAX)),
            description: cut(&description.unwrap_or_default(), DESCRIPTION_MAX),
            parameters: None,
        }
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
