//! The overview: domains with their states, steps and skills, as far as there is room.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::answers::{SAID_MAX, add_left_out};
use super::graph::{BRIDGE, Graph, Step, domain_of, label_of};
use crate::unified::cut;
use crate::unified::rooms::Rooms;

/// Bytes of all domains together; what there is no room for is counted.
const ROOM: usize = 1 << 20;
/// So many edges of a domain are told.
const EDGES_MAX: usize = 5_000;
/// Bytes of the names of domains where one is asked for that is not there.
const NAMES_ROOM: usize = 64 << 10;
/// What the JSON of a domain takes besides its texts, that of a state, of an edge, and of a skill.
const AROUND_DOMAIN: usize = 96;
const AROUND_STATE: usize = 8;
const AROUND_EDGE: usize = 32;
const AROUND_SKILL: usize = 48;

/// The answer about all domains, or about one.
pub(super) fn answer(graph: &Graph<'_>, domain: &str) -> Value {
    let domains = graph.domains();
    let is_wanted = |name: &str| domain.is_empty() || name == domain;
    if !domains.keys().any(|name| is_wanted(name)) {
        return unknown_domain(&domains, domain);
    }
    let steps = steps_of(graph, &domains);
    let mut skills: HashMap<&str, Vec<_>> = HashMap::new();
    for one in graph.skills.iter().filter(|one| !one.states.is_empty()) {
        skills.entry(&*one.domain).or_default().push(*one);
    }
    let servers = graph.steps.iter().map(|step| step.server);
    let servers = servers.chain(domains.values().flatten().map(|(_, owner)| *owner));
    let mut telling = Telling { room: Rooms::new(ROOM, servers), left: graph.left_out };
    let mut told = Vec::new();
    for (name, states) in domains.iter().filter(|(name, _)| is_wanted(name)) {
        let Some((_, owner)) = states.first() else { continue };
        if !telling.has_room(owner, AROUND_DOMAIN + name.len()) {
            continue;
        }
        let states: Map<String, Value> = states
            .iter()
            .filter(|(state, owner)| telling.has_room(owner, AROUND_STATE + 2 * state.len()))
            .map(|(state, _)| ((*state).to_owned(), label_of(state).into()))
            .collect();
        let edges = telling.edges(steps.get(name).map_or(&[], Vec::as_slice));
        let skills = skills.get(name).into_iter().flatten().filter(|one| {
            let states: usize = one.states.iter().map(|state| state.len() + 3).sum();
            telling.has_room(owner, AROUND_SKILL + one.name.len() + one.description.len() + states)
        });
        let skills: Vec<Value> = skills
            .map(|one| {
                json!({"name": one.name, "description": one.description, "states": one.states})
            })
            .collect();
        told.push(json!({
            "domain": name, "states": states, "edges": edges, "affordances": {}, "skills": skills,
        }));
    }
    let mut answer = Map::new();
    answer.insert("domains".to_owned(), told.into());
    let bridges: Vec<Value> = graph
        .steps
        .iter()
        .filter(|step| step.server == BRIDGE)
        .map(|step| {
            let (from, to) = (step.requires.first(), step.produces.first());
            json!({"from": from, "to": to, "description": step.description})
        })
        .collect();
    if !bridges.is_empty() {
        answer.insert("bridges".to_owned(), bridges.into());
    }
    add_left_out(&mut answer, telling.left);
    answer.into()
}

/// The steps of each domain: those of the server of that name; where a server is called otherwise than its states, those
/// that produce a state of the domain.
fn steps_of<'g, 'a>(
    graph: &'g Graph<'a>,
    domains: &BTreeMap<&'a str, Vec<(&'a str, &'a str)>>,
) -> HashMap<&'a str, Vec<&'g Step<'a>>> {
    let mut steps: HashMap<&str, Vec<&Step<'_>>> = HashMap::new();
    for step in graph.steps.iter().filter(|step| step.server != BRIDGE) {
        if domains.contains_key(step.server) {
            steps.entry(step.server).or_default().push(step);
            continue;
        }
        let produced: BTreeSet<&str> = step.produces.iter().map(|state| domain_of(state)).collect();
        for domain in produced {
            steps.entry(domain).or_default().push(step);
        }
    }
    steps
}

/// What is still told of each server.
struct Telling<'a> {
    room: Rooms<'a>,
    /// So many domains, states, edges and skills there was no room for.
    left: usize,
}

impl<'a> Telling<'a> {
    fn has_room(&mut self, server: &'a str, bytes: usize) -> bool {
        let has = self.room.take(server, bytes);
        self.left += usize::from(!has);
        has
    }

    fn edges(&mut self, steps: &[&Step<'a>]) -> Vec<Value> {
        let mut seen = HashSet::new();
        let mut edges = Vec::new();
        for step in steps {
            let requires = if step.requires.is_empty() { &["(start)"][..] } else { &step.requires };
            if self.room.is_full(step.server) || edges.len() == EDGES_MAX {
                self.left += requires.len() * step.produces.len();
                continue;
            }
            for from in requires {
                for to in &step.produces {
                    if !seen.insert((*from, *to, &*step.name)) {
                        continue;
                    }
                    let bytes = AROUND_EDGE + from.len() + to.len() + step.name.len();
                    if edges.len() == EDGES_MAX {
                        self.left += 1;
                    } else if self.has_room(step.server, bytes) {
                        edges.push(json!({"from": from, "to": to, "tool": step.name}));
                    }
                }
            }
        }
        edges
    }
}

fn unknown_domain(known: &BTreeMap<&str, Vec<(&str, &str)>>, domain: &str) -> Value {
    let message = match domain {
        "" => "No domain state graphs available.".to_owned(),
        domain => format!("No state graph found for domain '{}'.", cut(domain, SAID_MAX)),
    };
    let mut answer = Map::new();
    answer.insert("message".to_owned(), message.into());
    let mut room = NAMES_ROOM;
    let known = known.keys().copied().take_while(|name| {
        let rest = room.checked_sub(name.len() + 4);
        room = rest.unwrap_or(0);
        rest.is_some()
    });
    let known: Vec<&str> = known.collect();
    if !known.is_empty() {
        answer.insert("available_domains".to_owned(), known.into());
    }
    let hint = "You can always use execute_{domain}_code to work directly in a domain environment, \
                even without an annotated state graph.";
    answer.insert("hint".to_owned(), hint.into());
    answer.into()
}
