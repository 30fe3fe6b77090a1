//! The catalogue of functions and skills of all servers behind the connector: a resource, which the host also shows at
//! `GET PATH/catalog`. Whoever stacks a connector on this one reads it there, be it plugway or one of agora-workbench: it has
//! the form of theirs, with a few keys more.

use std::collections::BTreeMap;

use plugway_sdk::prelude::{Entry, Target};
use serde_json::{Value, json};

use super::catalogue::THING_MAX;
use super::prepared::{Prepared, Way};
use super::shares::shares;
use super::sight::Sight;

/// Bytes of the things of all servers together, as they stand inside of a JSON text.
const ROOM: usize = 2 << 20;

/// What a line of the text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A function.
    Function,
    /// A skill.
    Skill,
    /// The limits of a tool that runs code.
    Limits,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Function, Self::Skill, Self::Limits];

    fn letter(self) -> &'static str {
        match self {
            Self::Function => "f",
            Self::Skill => "s",
            Self::Limits => "l",
        }
    }
}

/// Something that is published.
#[derive(Debug)]
struct Line {
    text: String,
    kind: Kind,
    /// Of a function its place among the prepared tools, of anything else that of its way.
    of: u32,
    /// Bytes that it takes inside of a JSON text.
    cost: usize,
}

/// Collects what is published, server by server.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// Lines of each server.
    servers: Vec<Vec<Line>>,
    left: Left,
}

/// What there is no room for.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// How many skills of each way, or limits.
    pub(super) of_ways: BTreeMap<u32, u32>,
    /// Places of functions among the prepared tools.
    pub(super) functions: Vec<u32>,
}

impl Left {
    fn add(&mut self, kind: Kind, of: u32) {
        match kind {
            Kind::Function => self.functions.push(of),
            Kind::Skill | Kind::Limits => *self.of_ways.entry(of).or_default() += 1,
        }
    }
}

impl Collected {
    /// What follows belongs to the next server.
    pub(super) fn next_server(&mut self) {
        self.servers.push(Vec::new());
    }

    /// A function or skill, as the text of a JSON object. The keys of it that say whose it is are made anew.
    pub(super) fn thing(
        &mut self,
        kind: Kind,
        of: u32,
        text: &str,
        said: [(&str, Option<&str>); 4],
    ) {
        let mut object: Value = serde_json::from_str(text).unwrap_or_default();
        if let Some(object) = object.as_object_mut() {
            for (key, text) in said {
                match text {
                    Some(text) => object.insert(key.to_owned(), text.into()),
                    None => object.remove(key),
                };
            }
        }
        self.line(kind, of, &object);
    }

    /// Any JSON value about a function, or about a way.
    pub(super) fn line(&mut self, kind: Kind, of: u32, value: &Value) {
        let json = value.to_string();
        let escaped = json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        let text = format!("{} {of} {json}", kind.letter());
        let cost = text.len() + escaped + 1;
        match self.servers.last_mut() {
            Some(lines) if json.len() <= THING_MAX => lines.push(Line { text, kind, of, cost }),
            _ => self.left.add(kind, of),
        }
    }

    /// As much of it as there is room for, as lines of a text, and what is left out.
    pub(super) fn finish(self) -> (String, Left) {
        let wanted: Vec<usize> =
            self.servers.iter().map(|lines| lines.iter().map(|line| line.cost).sum()).collect();
        let (mut text, mut left_out) = (String::new(), self.left);
        for (lines, share) in self.servers.into_iter().zip(shares(&wanted, ROOM)) {
            let mut left = share;
            for line in lines {
                let Some(rest) = left.checked_sub(line.cost) else {
                    left_out.add(line.kind, line.of);
                    continue;
                };
                left = rest;
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&line.text);
            }
        }
        (text, left_out)
    }
}

/// URI of the resource.
pub fn uri(connector: &str) -> String {
    format!("plugway://{connector}/catalog")
}

/// The resource.
pub fn resource(connector: &str) -> Entry {
    let definition = json!({
        "uri": uri(connector),
        "name": format!("{connector}_catalog"),
        "title": format!("Functions and skills behind {connector}"),
        "description": "What the code can call that the servers behind this connector run, and the skills that they have.",
        "mimeType": "application/json",
    });
    Entry { kind: "resource".to_owned(), definition: definition.to_string(), target: Target::Local }
}

/// JSON text of what the caller may see: the things whose tools stand in its list now, and of functions those that it may use.
pub fn answer(connector: &str, prepared: &Prepared, sight: &Sight) -> String {
    let mut texts = [const { Vec::<&str>::new() }; 3];
    let mut limits: BTreeMap<&str, &str> = BTreeMap::new();
    for line in prepared.published.split('\n') {
        let mut words = line.splitn(3, ' ');
        let (Some(letter), Some(of), Some(json)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let (Some(kind), Ok(of)) =
            (Kind::ALL.into_iter().find(|kind| kind.letter() == letter), of.parse())
        else {
            continue;
        };
        let Some(tool) = shown_by(prepared, sight, kind, of) else { continue };
        if kind == Kind::Limits {
            limits.insert(&tool.tool, json);
        } else if let Some(texts) = texts.get_mut(kind as usize) {
            texts.push(json);
        }
    }
    let [functions, skills, _] = texts.map(|texts| texts.join(","));
    let server = Value::from(connector);
    let mut text = format!(r#"{{"server_name":{server},"tools":[{functions}],"skills":[{skills}]"#);
    let mut different = limits.values();
    if let Some(first) = different.next() {
        // One word for all, as a single server has it, where it holds for all.
        if different.all(|other| other == first) {
            text.extend([r#","execution":"#, first]);
        }
        let each = limits.iter().map(|(tool, json)| format!("{}:{json}", Value::from(*tool)));
        text.extend([r#","executions":{"#, &each.collect::<Vec<_>>().join(","), "}"]);
    }
    // What is hidden from the caller does not count either.
    let is_shown = |kind: Kind, of: u32| shown_by(prepared, sight, kind, of).is_some();
    let left = prepared.unpublished.iter().filter(|(way, _)| is_shown(Kind::Skill, **way));
    let left: usize = left.map(|(_, left)| *left as usize).sum();
    let functions = prepared.unpublished_functions.iter();
    let left = left + functions.filter(|place| is_shown(Kind::Function, **place)).count();
    if left > 0 {
        text.extend([r#","left_out":"#, &left.to_string()]);
    }
    text.push('}');
    text
}

/// The way of what a line is about, if its server is there and the caller may know of it.
fn shown_by<'a>(prepared: &'a Prepared, sight: &Sight, kind: Kind, of: u32) -> Option<&'a Way> {
    let way = match kind {
        Kind::Function => prepared.tools.get(of as usize).filter(|_| sight.sees_tool(of))?.way,
        Kind::Skill | Kind::Limits => of,
    };
    let (tool, server) = prepared.way(way)?;
    (server.up && sight.sees(way)).then_some(tool)
}
