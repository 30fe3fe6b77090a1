//! States and the steps between them, as one caller sees them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::unified::catalogue::Skill;
use crate::unified::prepared::{Function, Prepared};
use crate::unified::shares::shares;
use crate::unified::sight::Sight;

/// What bridges have in place of a server.
pub const BRIDGE: &str = "(bridge)";

/// So often may steps and skills of all servers name states; more are left out, of those first that have the most.
const STATES_MAX: usize = 20_000;

/// The domain of states whose name has no dot.
const NO_DOMAIN: &str = "default";

/// A tool that leads from states to states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<'a> {
    /// Its name; `bridge:FROM→TO` for a bridge.
    pub name: Cow<'a, str>,
    /// Its server, or [`BRIDGE`].
    pub server: &'a str,
    /// What it does.
    pub description: &'a str,
    /// One of these is needed, in rising order.
    pub requires: Vec<&'a str>,
    /// All of these hold afterwards, in rising order.
    pub produces: Vec<&'a str>,
}

/// One move along a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move<'a> {
    /// Place of the step.
    pub step: usize,
    /// The state before.
    pub from: &'a str,
    /// The state after.
    pub to: &'a str,
}

/// The plan. Steps are in the order of servers and of their catalogues, bridges last.
#[derive(Debug, Default)]
pub struct Graph<'a> {
    /// All steps.
    pub steps: Vec<Step<'a>>,
    /// Skills.
    pub skills: Vec<&'a Skill>,
    /// So many steps and skills there was no room for.
    pub left_out: usize,
    /// The server that names each state first.
    owners: BTreeMap<&'a str, &'a str>,
    from: HashMap<&'a str, Vec<usize>>,
    to: HashMap<&'a str, Vec<usize>>,
}

/// The part of a state before its first dot, empty if it has none.
pub fn domain_of(state: &str) -> &str {
    state.split_once('.').map_or("", |(domain, _)| domain)
}

/// The domain under which a state is shown.
fn domain_shown(state: &str) -> &str {
    match domain_of(state) {
        "" => NO_DOMAIN,
        domain => domain,
    }
}

/// What a state is called within its domain.
pub fn label_of(state: &str) -> String {
    state.split_once('.').map_or(state, |(_, suffix)| suffix).to_uppercase()
}

/// How often a function names states.
fn states_of(function: &Function) -> usize {
    function.requires.len() + function.produces.len()
}

/// How often each server may name states, by how often each wants to.
fn shared(servers: usize, wants: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut wanted = vec![0; servers];
    for (server, states) in wants {
        if let Some(wanted) = wanted.get_mut(server) {
            *wanted += states;
        }
    }
    shares(&wanted, STATES_MAX)
}

impl<'a> Graph<'a> {
    /// The plan of what the caller may know of. A bridge is part of it where both of its ends are.
    pub fn of(prepared: &'a Prepared, sight: &Sight) -> Self {
        let mut graph = Self::default();
        let tools = prepared.tools.iter().zip(sight.of_tools()).filter(|(_, seen)| **seen);
        let functions = tools.filter_map(|(tool, _)| {
            let server = prepared.ways.get(tool.way as usize)?.server as usize;
            Some((server, tool.function.as_deref()?))
        });
        let skills = prepared.skills.iter().filter(|one| sight.sees(one.way));
        let skills = skills.filter_map(|one| {
            let server = prepared.ways.get(one.way as usize)?.server as usize;
            Some((server, &one.skill))
        });
        let of_functions = functions.clone().map(|(server, one)| (server, states_of(one)));
        let of_skills = skills.clone().map(|(server, one)| (server, one.states.len()));
        let mut left = shared(prepared.servers.len(), of_functions.chain(of_skills));
        let mut take = |server: usize, states: usize| {
            let rest = left.get(server).and_then(|left| left.checked_sub(states));
            if let (Some(rest), Some(left)) = (rest, left.get_mut(server)) {
                *left = rest;
            }
            rest.is_some()
        };
        let name = |server: usize| prepared.servers.get(server).map_or("", |one| &*one.name);
        for (server, function) in functions {
            if !take(server, states_of(function)) {
                graph.left_out += 1;
                continue;
            }
            graph.add(Step {
                name: Cow::Borrowed(&function.name),
                server: name(server),
                description: &function.description,
                requires: function.requires.iter().map(String::as_str).collect(),
                produces: function.produces.iter().map(String::as_str).collect(),
            });
        }
        let has_steps = !graph.steps.is_empty();
        for (server, skill) in skills {
            if !take(server, skill.states.len()) {
                graph.left_out += 1;
                continue;
            }
            graph.skills.push(skill);
            if has_steps {
                graph.owns(skill.states.iter().map(String::as_str), name(server));
            }
        }
        for bridge in &prepared.bridges {
            let (from, to) = (bridge.from_state.as_str(), bridge.to_state.as_str());
            if graph.to.contains_key(from) && graph.from.contains_key(to) {
                graph.add(Step {
                    name: Cow::Owned(format!("bridge:{from}→{to}")),
                    server: BRIDGE,
                    description: &bridge.description,
                    requires: vec![from],
                    produces: vec![to],
                });
            }
        }
        graph
    }

    fn add(&mut self, step: Step<'a>) {
        if step.requires.is_empty() && step.produces.is_empty() {
            return;
        }
        let place = self.steps.len();
        self.owns(step.requires.iter().chain(&step.produces).copied(), step.server);
        for state in &step.requires {
            self.from.entry(state).or_default().push(place);
        }
        for state in &step.produces {
            self.to.entry(state).or_default().push(place);
        }
        self.steps.push(step);
    }

    fn owns(&mut self, states: impl Iterator<Item = &'a str>, server: &'a str) {
        for state in states {
            self.owners.entry(state).or_insert(server);
        }
    }

    /// For each domain its states, in rising order, each with the server that names it first.
    pub fn domains(&self) -> BTreeMap<&'a str, Vec<(&'a str, &'a str)>> {
        let mut domains: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (state, owner) in &self.owners {
            domains.entry(domain_shown(state)).or_default().push((state, owner));
        }
        domains
    }

    /// The steps from a state.
    pub fn from_state(&self, state: &str) -> impl Iterator<Item = &Step<'a>> {
        self.steps_at(self.from.get(state))
    }

    /// The steps to a state.
    pub fn to_state(&self, state: &str) -> impl Iterator<Item = &Step<'a>> {
        self.steps_at(self.to.get(state))
    }

    fn steps_at<'g>(
        &'g self,
        places: Option<&'g Vec<usize>>,
    ) -> impl Iterator<Item = &'g Step<'a>> + 'g {
        places.into_iter().flatten().filter_map(|place| self.steps.get(*place))
    }

    /// A shortest way, of several the one whose tools come first; none if there is none.
    pub fn path<'s>(&'s self, source: &'s str, target: &'s str) -> Option<Vec<Move<'s>>> {
        let mut seen = HashSet::from([source]);
        let mut moves: Vec<Move<'s>> = Vec::new();
        // A state, and the place of the move that led to it.
        let mut queue = VecDeque::from([(source, None)]);
        if source == target {
            return Some(Vec::new());
        }
        let mut came: Vec<Option<usize>> = Vec::new();
        while let Some((state, arrived)) = queue.pop_front() {
            for &step in self.from.get(state).into_iter().flatten() {
                let produced = self.steps.get(step).into_iter().flat_map(|step| &step.produces);
                for &next in produced {
                    if !seen.insert(next) {
                        continue;
                    }
                    moves.push(Move { step, from: state, to: next });
                    came.push(arrived);
                    let last = moves.len() - 1;
                    if next == target {
                        return Some(walked(&moves, &came, last));
                    }
                    queue.push_back((next, Some(last)));
                }
            }
        }
        None
    }
}

/// The moves that led to one, in their order.
fn walked<'a>(moves: &[Move<'a>], came: &[Option<usize>], last: usize) -> Vec<Move<'a>> {
    let back = std::iter::successors(Some(last), |place| came.get(*place).copied().flatten());
    let mut path: Vec<Move<'a>> = back.filter_map(|place| moves.get(place).cloned()).collect();
    path.reverse();
    path
}
