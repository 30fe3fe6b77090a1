//! From what servers list to what the router's own tools answer from.

use std::collections::HashMap;

use plugway_sdk::prelude::Entry;
use serde_json::Value;

use super::bm25::Builder;
use super::catalogue;
use super::cost::{DESCRIPTION_MAX, PARTS_MAX, cost, kept};
use super::found::{Contents, Found, Own, found};
use super::functions::{self, Names};
use super::prepared::{Loadable, Prepared, Server, Tool, Way};
use super::published::{Collected, Kind};
use super::shares::shares;
use super::words::{Described, text_of_function, text_of_skill, text_of_tool};
use super::{cut, offers, plan::bridges, wire};
use crate::config::{Options, Settings, Unified};
use crate::warning::Warning;

/// How much of everything is prepared.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Longest document, in bytes; what is published comes besides.
    pub document: usize,
    /// Bytes that the things of all servers may cost. Usually the document is shorter than that; where hostile texts make it
    /// longer, the next smaller budget is tried.
    pub budgets: [usize; 3],
}

/// The host takes a little more. With the last budget every document fits: a byte of text never takes more than eight.
pub const ROOM: Room = Room { document: 6 << 20, budgets: [6 << 20, 2 << 20, 512 << 10] };

/// Bytes of what one server may say of the limits of its tools.
const LIMITS_ROOM: usize = 256 << 10;
/// What the limits of one tool cost besides their text.
const LIMITS: usize = 64;

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

impl Source {
    /// Whether all is known that it has.
    fn is_known(&self) -> bool {
        self.reached && !self.documents.iter().any(|(name, _)| name == catalogue::UNREAD)
    }

    /// Whether it has a catalogue of functions.
    pub fn has_catalogue(&self) -> bool {
        self.documents.iter().any(|(name, _)| name == catalogue::DOCUMENT)
    }
}

/// What was made besides entries.
#[derive(Debug, Default)]
pub struct Gathered {
    /// What the tools answer from.
    pub document: String,
    /// Entries of the functions.
    functions: Vec<Entry>,
    /// What was left out.
    pub warnings: Vec<Warning>,
    /// What the operator wrote that does not fit these servers.
    pub problems: Vec<String>,
    /// Whether there may be more of that once every server was reached.
    pub pending: bool,
}

/// Adds the router's own tools behind the entries of all servers, and the catalogue for others where there is something to
/// say.
pub fn add(
    connector: &str,
    entries: &mut Vec<Entry>,
    sources: &[Source],
    options: &Options,
    room: &Room,
) -> Gathered {
    let mut functions = Vec::new();
    for budget in room.budgets {
        let (prepared, mut gathered) = gather(connector, entries, sources, options, budget);
        let offers = offers::of(connector, &prepared, options);
        let most = room.document + prepared.published.len();
        functions = std::mem::take(&mut gathered.functions);
        match wire::write(prepared) {
            Ok(document) if document.len() <= most => {
                entries.extend(offers);
                entries.extend(functions);
                gathered.document = document;
                return gathered;
            }
            _ => {}
        }
    }
    // They are judged all the same.
    entries.extend(functions);
    Gathered::default()
}

fn gather(
    connector: &str,
    entries: &[Entry],
    sources: &[Source],
    options: &Options,
    budget: usize,
) -> (Prepared, Gathered) {
    let mut tools: HashMap<&str, Vec<Own<'_>>> = HashMap::new();
    for (place, entry) in entries.iter().enumerate() {
        if let (Some((upstream, own)), "tool") = (entry.target.upstream(), entry.kind.as_str()) {
            let own = Own { name: own, definition: &entry.definition, entry: place };
            tools.entry(upstream).or_default().push(own);
        }
    }
    let (mut all, mut warnings) = (Vec::new(), Vec::new());
    for source in sources {
        let own = tools.remove(source.name.as_str()).unwrap_or_default();
        all.push(found(source, &own, options.unified_tools != Unified::None, &mut warnings));
    }
    let functions = functions::entries(sources, &all, &mut warnings);
    let wanted: Vec<usize> =
        all.iter().map(|contents| contents.things.iter().map(cost).sum()).collect();
    let (mut gathering, mut complete) = (Gathering::default(), true);
    for ((source, contents), share) in sources.iter().zip(all).zip(shares(&wanted, budget)) {
        let left = gathering.add(source, contents, share);
        if left > 0 {
            complete = false;
            warnings.push(Warning::Unsearchable { left, upstream: source.name.clone() });
        }
    }
    let mut prepared = gathering.finish();
    let (good, bad) = bridges::check(connector, &options.bridges, &prepared);
    prepared.bridges = good;
    // What is missing may be at a server that was not reached yet, or in what there was no room for.
    let pending = !bad.is_empty() && !sources.iter().all(Source::is_known);
    let bad = bad.iter().filter(|_| complete && !pending);
    let problems = bad.map(ToString::to_string).collect();
    let document = String::new();
    (prepared, Gathered { document, functions, warnings, problems, pending })
}

#[derive(Default)]
struct Gathering {
    prepared: Prepared,
    tools: Builder,
    skills: Builder,
    published: Collected,
}

impl Gathering {
    /// Adds what is found at a server, as much as its share allows; says how many things are left out.
    fn add(&mut self, source: &Source, contents: Contents<'_>, share: usize) -> usize {
        let Contents { callable, things, limits } = contents;
        let names = Names::of(&callable);
        let all = things.len();
        let (mut left, mut done) = (share, 0);
        let server = u32::try_from(self.prepared.servers.len()).unwrap_or(u32::MAX);
        // Places of the ways that are used already, by the entries that they are.
        let mut ways: HashMap<usize, u32> = HashMap::new();
        self.published.next_server();
        for one in things {
            let Some(rest) = left.checked_sub(cost(&one)) else { break };
            left = rest;
            done += 1;
            match one {
                Found::Tool(own) => {
                    // That of functions or skills is known already.
                    let way = self.known_way(&mut ways, server, own);
                    self.tool(source.up, way, own, &names);
                }
                Found::Function(one, tool, text) => {
                    let way = self.known_way(&mut ways, server, tool);
                    self.tools.add(&text_of_function(&one));
                    let named = (source, &*one.name, one.own_name.as_deref());
                    self.publish(Kind::Function, way, named, text);
                    let function = Some(Box::new(kept(one)));
                    self.prepared.tools.push(Tool { way, description: None, function });
                }
                Found::Skill(mut skill, tool, text) => {
                    let way = self.known_way(&mut ways, server, tool);
                    self.prepared.owns.entry(way).or_insert_with(|| tool.name.to_owned());
                    self.skills.add(&text_of_skill(&skill));
                    self.publish(Kind::Skill, way, (source, &skill.name, None), text);
                    skill.description = cut(&skill.description, DESCRIPTION_MAX);
                    skill.states.truncate(PARTS_MAX);
                    (skill.via, skill.server_name) = (None, None);
                    self.prepared.skills.push(Loadable { way, skill });
                }
            }
        }
        let mut room = LIMITS_ROOM;
        for (tool, said) in limits {
            let Some(way) = ways.get(&tool.entry) else { continue };
            let Some(rest) = room.checked_sub(LIMITS + said.len()) else { break };
            room = rest;
            // On one line.
            if let Ok(said) = serde_json::from_str::<Value>(said) {
                self.published.line(Kind::Limits, *way, &said);
            }
        }
        self.serve(source);
        all - done
    }

    fn known_way(&mut self, ways: &mut HashMap<usize, u32>, server: u32, own: Own<'_>) -> u32 {
        *ways.entry(own.entry).or_insert_with(|| self.way(server, own))
    }

    /// Says of a thing whose it is and by which tool of the connector it is reached.
    fn publish(
        &mut self,
        kind: Kind,
        way: u32,
        (source, name, own): (&Source, &str, Option<&str>),
        text: &str,
    ) {
        let via = self.prepared.ways.get(way as usize).map(|way| way.tool.clone());
        let said = [
            ("name", Some(name)),
            ("own_name", own),
            ("server_name", Some(source.name.as_str())),
            ("via", via.as_deref()),
        ];
        let of = match kind {
            // The next one.
            Kind::Function => u32::try_from(self.prepared.tools.len()).unwrap_or(u32::MAX),
            Kind::Skill | Kind::Limits => way,
        };
        self.published.thing(kind, of, text, said);
    }

    fn serve(&mut self, source: &Source) {
        self.prepared.servers.push(Server { name: source.name.clone(), up: source.up });
    }

    fn way(&mut self, server: u32, own: Own<'_>) -> u32 {
        let place = u32::try_from(self.prepared.ways.len()).unwrap_or(u32::MAX);
        let tool = Described::of(own.definition).name;
        self.prepared.ways.push(Way { tool, server });
        place
    }

    /// What it says of functions is not searched, nor kept: they are found by their own words, by whom they are shown to.
    fn tool(&mut self, up: bool, way: u32, own: Own<'_>, functions: &Names<'_>) {
        let mut described = Described::of(own.definition);
        described.description = described.description.map(|text| functions.before(text));
        self.tools.add(&text_of_tool(own.name, &described));
        let unlisted = described.description.filter(|_| !up);
        let description = unlisted.map(|text| cut(&text, DESCRIPTION_MAX));
        self.prepared.tools.push(Tool { way, description, function: None });
    }

    fn finish(self) -> Prepared {
        let (published, left) = self.published.finish();
        Prepared {
            published,
            unpublished: left.of_ways,
            unpublished_functions: left.functions,
            tool_words: self.tools.finish(),
            skill_words: self.skills.finish(),
            ..self.prepared
        }
    }
}
