//! From what servers list to what the router's own tools answer from.

use std::collections::HashMap;

use plugway_sdk::prelude::Entry;

use super::bm25::Builder;
use super::catalogue::{self, Catalogue, Skill, Transition};
use super::prepared::{Function, Loadable, Parameter, Prepared, Server, Tool, Way};
use super::shares::shares;
use super::words::{Described, TEXT_MAX, text_of_function, text_of_skill, text_of_tool};
use super::{cut, offers, plan::bridges, wire};
use crate::config::{Options, Settings};
use crate::warning::Warning;

/// So many bytes of a description are kept where no list has it.
const DESCRIPTION_MAX: usize = 1_024;
/// So many arguments, states and phrases of one function are kept.
const PARTS_MAX: usize = 32;
/// What one thing costs besides its texts.
const THING: usize = 64;
/// How much of everything is prepared.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Longest document, in bytes.
    pub document: usize,
    /// Bytes that the things of all servers may cost. Usually the document is shorter than that; where hostile texts make it
    /// longer, the next smaller budget is tried.
    pub budgets: [usize; 3],
}

/// The host takes a little more. With the last budget every document fits: a byte of text never takes more than eight.
pub const ROOM: Room = Room { document: 6 << 20, budgets: [6 << 20, 2 << 20, 512 << 10] };

/// What is known of a server besides its entries.
#[derive(Debug)]
pub struct Source {
    /// Its configured name.
    pub name: String,
    /// Whether lists show its tools.
    pub up: bool,
    /// Whether it was ever reached.
    pub reached: bool,
    /// Further documents of it, by name.
    pub documents: Vec<(String, String)>,
    /// What the operator wrote about it.
    pub settings: Settings,
    /// Whether each of its tools is found, where only its functions and skills would be.
    pub every_tool: bool,
}

/// Adds the router's own tools behind the entries of all servers. Gives the document that they answer from.
pub fn add(
    connector: &str,
    entries: &mut Vec<Entry>,
    sources: &[Source],
    options: &Options,
    room: &Room,
) -> (String, Vec<Warning>) {
    for budget in room.budgets {
        let (mut prepared, warnings) = gather(connector, entries, sources, options, budget);
        let offers =
            if options.unified_tools { offers::of(connector, &prepared) } else { Vec::new() };
        let listed = entries.iter().filter(|entry| is_listed(entry, sources)).count();
        let listed = listed + offers.len();
        prepared.listed = u32::try_from(listed).unwrap_or(u32::MAX);
        match wire::write(prepared) {
            Ok(document) if document.len() <= room.document => {
                entries.extend(offers);
                return (document, warnings);
            }
            _ => {}
        }
    }
    (String::new(), Vec::new())
}

/// A tool of a server.
#[derive(Clone, Copy)]
struct Own<'a> {
    /// The server's own name for it.
    name: &'a str,
    /// As clients see it.
    definition: &'a str,
    /// Its place in lists from which nothing is hidden.
    place: u32,
}

/// Something that can be found.
enum Found<'a> {
    /// A tool.
    Tool(Own<'a>),
    /// A function, and the tool that runs it.
    Function(catalogue::Function, Own<'a>),
    /// A skill, and the tool that loads it.
    Skill(Skill, Own<'a>),
}

/// Whether lists show an entry to whom nothing is hidden from.
fn is_listed(entry: &Entry, sources: &[Source]) -> bool {
    let upstream = entry.target.upstream();
    upstream.is_none_or(|(upstream, _)| sources.iter().any(|one| one.name == *upstream && one.up))
}

fn gather(
    connector: &str,
    entries: &[Entry],
    sources: &[Source],
    options: &Options,
    budget: usize,
) -> (Prepared, Vec<Warning>) {
    let mut tools: HashMap<&str, Vec<Own<'_>>> = HashMap::new();
    let mut place = 0;
    for entry in entries {
        if let (Some((upstream, own)), "tool") = (entry.target.upstream(), entry.kind.as_str()) {
            let own = Own { name: own, definition: &entry.definition, place };
            tools.entry(upstream).or_default().push(own);
        }
        place += u32::from(is_listed(entry, sources));
    }
    let (mut all, mut warnings) = (Vec::new(), Vec::new());
    for source in sources {
        let own = tools.remove(source.name.as_str()).unwrap_or_default();
        all.push(found(source, own, &mut warnings));
    }
    let wanted: Vec<usize> = all.iter().map(|found| found.iter().map(cost).sum()).collect();
    let mut gathering = Gathering::default();
    for ((source, found), share) in sources.iter().zip(all).zip(shares(&wanted, budget)) {
        let left = gathering.add(source, found, share);
        if left > 0 {
            warnings.push(Warning::Unsearchable { left, upstream: source.name.clone() });
        }
    }
    let mut prepared = gathering.finish();
    let (good, bad) = bridges::check(connector, &options.bridges, &prepared);
    prepared.bridges = good;
    // What is missing may be at a server that was not reached yet.
    if sources.iter().all(|source| source.reached) {
        warnings.extend(bad.into_iter().map(Warning::Bridge));
    }
    (prepared, warnings)
}

/// A code-execution server has what its catalogue says, any other server its tools.
fn found<'a>(source: &Source, own: Vec<Own<'a>>, warnings: &mut Vec<Warning>) -> Vec<Found<'a>> {
    let document = source.documents.iter().find(|(name, _)| name == catalogue::DOCUMENT);
    let catalogue: Catalogue = match document.map(|(_, text)| serde_json::from_str(text)) {
        None => Catalogue::default(),
        Some(Ok(catalogue)) => catalogue,
        Some(Err(error)) => {
            let (reason, upstream) = (error.to_string(), source.name.clone());
            warnings.push(Warning::Catalogue { reason, upstream });
            Catalogue::default()
        }
    };
    let named = |before: &str, after: &str| {
        own.iter().find(|one| one.name.starts_with(before) && one.name.ends_with(after)).copied()
    };
    let mut found = Vec::new();
    if let Some(tool) = named("execute_", "_code") {
        let exposed = catalogue.tools.into_iter().filter(|one| source.settings.exposes(&one.name));
        found.extend(exposed.map(|one| Found::Function(one, tool)));
    }
    if let Some(tool) = named("load_", "_skill") {
        found.extend(catalogue.skills.into_iter().map(|one| Found::Skill(one, tool)));
    }
    if found.is_empty() || source.every_tool {
        found.extend(own.into_iter().map(Found::Tool));
    }
    found
}

/// Bytes, about, that a thing takes: nothing is kept that is not counted here.
fn cost(found: &Found<'_>) -> usize {
    let long = |texts: &[String]| texts.iter().take(PARTS_MAX).map(|text| THING + text.len()).sum();
    THING
        + match found {
            Found::Tool(own) => {
                let Described { name, title, description } = Described::of(own.definition);
                let long = |text: Option<String>| text.map_or(0, |text| text.len());
                3 * own.name.len() + name.len() + (long(title) + long(description)).min(TEXT_MAX)
            }
            Found::Function(one, _) => {
                let parameters = one.required_parameters.iter().chain(&one.optional_parameters);
                let parameters: usize = parameters
                    .take(PARTS_MAX)
                    .map(|one| 2 * THING + one.name.len() + one.r#type.len())
                    .sum();
                let Transition { requires, produces } = &one.state_transition;
                let states: usize = long(requires) + long(produces);
                let kept = one.name.len() + one.description.len().min(DESCRIPTION_MAX);
                text_of_function(one).len() + kept + parameters + states
            }
            Found::Skill(one, _) => {
                let states: usize = long(&one.states);
                let kept = one.name.len() + one.domain.len();
                text_of_skill(one).len()
                    + kept
                    + one.description.len().min(DESCRIPTION_MAX)
                    + states
            }
        }
}

#[derive(Default)]
struct Gathering {
    prepared: Prepared,
    tools: Builder,
    skills: Builder,
}

impl Gathering {
    /// Adds what is found at a server, as much as its share allows; says how many things are left out.
    fn add(&mut self, source: &Source, found: Vec<Found<'_>>, share: usize) -> usize {
        let all = found.len();
        let mut left = share;
        let server = u32::try_from(self.prepared.servers.len()).unwrap_or(u32::MAX);
        let (mut run, mut load) = (None, None);
        // Ways that are known before their tools come: of the tools behind functions and skills.
        let mut known: Vec<(&str, u32)> = Vec::new();
        for (done, one) in found.into_iter().enumerate() {
            let Some(rest) = left.checked_sub(cost(&one)) else {
                self.serve(source);
                return all - done;
            };
            left = rest;
            match one {
                Found::Tool(own) => {
                    let way = known.iter().find(|(name, _)| *name == own.name).map(|(_, way)| *way);
                    let way = way.unwrap_or_else(|| self.way(server, own));
                    self.tool(source.up, way, own);
                }
                Found::Function(one, tool) => {
                    let way = *run.get_or_insert_with(|| {
                        let way = self.way(server, tool);
                        known.push((tool.name, way));
                        way
                    });
                    self.tools.add(&text_of_function(&one));
                    let function = Some(Box::new(kept(one)));
                    self.prepared.tools.push(Tool { way, description: None, function });
                }
                Found::Skill(mut skill, tool) => {
                    let way = *load.get_or_insert_with(|| {
                        let way = self.way(server, tool);
                        known.push((tool.name, way));
                        way
                    });
                    self.skills.add(&text_of_skill(&skill));
                    skill.description = cut(&skill.description, DESCRIPTION_MAX);
                    skill.states.truncate(PARTS_MAX);
                    self.prepared.skills.push(Loadable { way, skill });
                }
            }
        }
        self.serve(source);
        0
    }

    fn serve(&mut self, source: &Source) {
        self.prepared.servers.push(Server { name: source.name.clone(), up: source.up });
    }

    fn way(&mut self, server: u32, own: Own<'_>) -> u32 {
        let place = u32::try_from(self.prepared.ways.len()).unwrap_or(u32::MAX);
        let tool = Described::of(own.definition).name;
        self.prepared.ways.push(Way { tool, server, place: own.place });
        place
    }

    fn tool(&mut self, up: bool, way: u32, own: Own<'_>) {
        let described = Described::of(own.definition);
        self.tools.add(&text_of_tool(own.name, &described));
        let unlisted = described.description.filter(|_| !up);
        let description = unlisted.map(|text| cut(&text, DESCRIPTION_MAX));
        self.prepared.tools.push(Tool { way, description, function: None });
    }

    fn finish(self) -> Prepared {
        Prepared {
            tool_words: self.tools.finish(),
            skill_words: self.skills.finish(),
            ..self.prepared
        }
    }
}

/// What is kept of a function.
fn kept(one: catalogue::Function) -> Function {
    let states = |mut states: Vec<String>| {
        states.truncate(PARTS_MAX);
        states.sort_unstable();
        states.dedup();
        states
    };
    let parameters = |all: Vec<catalogue::Parameter>, required: bool| {
        all.into_iter().map(move |one| Parameter {
            name: one.name,
            r#type: one.r#type,
            required,
            description: cut(&one.description.unwrap_or_default(), 64),
        })
    };
    let required = parameters(one.required_parameters, true);
    let all = required.chain(parameters(one.optional_parameters, false));
    Function {
        parameters: all.take(PARTS_MAX).collect(),
        name: one.name,
        description: cut(&one.description, DESCRIPTION_MAX),
        requires: states(one.state_transition.requires),
        produces: states(one.state_transition.produces),
    }
}
