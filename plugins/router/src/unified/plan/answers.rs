//! What the tool answers, in the reference's form and with its sentences.

use std::collections::{BTreeSet, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::graph::{BRIDGE, Graph, Step, domain_of};
use crate::unified::catalogue::Skill;

/// So many edges of a domain are told.
const EDGES_MAX: usize = 5_000;

/// The tool's arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Question {
    /// `overview`, `next_steps`, `path` or `tool`; none is the first.
    pub mode: Option<String>,
    /// For `overview`: only this domain.
    pub domain: String,
    /// For `next_steps` and `path`.
    pub current_state: String,
    /// For `path`.
    pub target_state: String,
    /// For `tool`.
    pub tool_name: String,
}

/// The answer to a question.
pub fn answer(graph: &Graph<'_>, question: &Question) -> Value {
    match question.mode.as_deref().unwrap_or("overview") {
        "overview" => overview(graph, &question.domain),
        "next_steps" => next_steps(graph, &question.current_state),
        "path" => path(graph, &question.current_state, &question.target_state),
        "tool" => tool(graph, &question.tool_name),
        other => {
            let error = format!("Unknown mode '{other}'. Use: overview, next_steps, path, tool.");
            json!({"error": error})
        }
    }
}

fn overview(graph: &Graph<'_>, domain: &str) -> Value {
    let wanted = graph.domains.iter().filter(|(name, _)| domain.is_empty() || **name == domain);
    let domains: Vec<Value> = wanted
        .map(|(name, states)| {
            let skills = graph.skills.iter().filter(|one| one.domain == *name);
            let skills: Vec<Value> = skills
                .filter(|one| !one.states.is_empty())
                .map(|one| {
                    json!({"name": one.name, "description": one.description, "states": one.states})
                })
                .collect();
            json!({
                "domain": name, "states": states, "edges": edges(graph, name), "affordances": {},
                "skills": skills,
            })
        })
        .collect();
    if domains.is_empty() {
        return unknown_domain(graph, domain);
    }
    let bridges: Vec<Value> = graph
        .steps
        .iter()
        .filter(|step| step.server == BRIDGE)
        .map(|step| {
            let (from, to) = (step.requires.first(), step.produces.first());
            json!({"from": from, "to": to, "description": step.description})
        })
        .collect();
    if bridges.is_empty() {
        return json!({"domains": domains});
    }
    json!({"domains": domains, "bridges": bridges})
}

/// The steps of a domain: those of the server of that name; where a server is called otherwise than its states, those that
/// produce a state of the domain.
fn edges(graph: &Graph<'_>, domain: &str) -> Vec<Value> {
    let belongs = |step: &&Step<'_>| {
        if graph.domains.contains_key(step.server) {
            return step.server == domain;
        }
        step.server != BRIDGE && step.produces.iter().any(|state| domain_of(state) == domain)
    };
    let mut seen = HashSet::new();
    let mut edges = Vec::new();
    for step in graph.steps.iter().filter(belongs) {
        let requires = if step.requires.is_empty() { &["(start)"][..] } else { &step.requires };
        for from in requires {
            for to in &step.produces {
                if edges.len() == EDGES_MAX {
                    return edges;
                }
                if seen.insert((*from, *to, &*step.name)) {
                    edges.push(json!({"from": from, "to": to, "tool": step.name}));
                }
            }
        }
    }
    edges
}

fn unknown_domain(graph: &Graph<'_>, domain: &str) -> Value {
    let message = match domain {
        "" => "No domain state graphs available.".to_owned(),
        domain => format!("No state graph found for domain '{domain}'."),
    };
    let mut answer = Map::new();
    answer.insert("message".to_owned(), message.into());
    if !graph.domains.is_empty() {
        let known = graph.domains.keys().copied().collect();
        answer.insert("available_domains".to_owned(), known);
    }
    let hint = "You can always use execute_{domain}_code to work directly in a domain environment, \
                even without an annotated state graph.";
    answer.insert("hint".to_owned(), hint.into());
    answer.into()
}

fn next_steps(graph: &Graph<'_>, state: &str) -> Value {
    if state.is_empty() {
        return json!({"error": "Provide a 'state' parameter (e.g. 'domain.state_name')."});
    }
    let here: Vec<Value> = graph.from_state(state).map(summary).collect();
    let back: Vec<Value> = graph.to_state(state).map(summary).collect();
    let next: BTreeSet<&str> =
        graph.from_state(state).flat_map(|step| step.produces.iter().copied()).collect();
    let around: HashSet<&str> = next.iter().copied().chain([state]).collect();
    let hint = here.is_empty().then(|| {
        let domain = domain_of(state);
        format!(
            "No annotated tools transition from '{state}'. You can always use \
             execute_{domain}_code to work directly in the {domain} environment."
        )
    });
    let mut answer = Map::new();
    answer.insert("state".to_owned(), state.into());
    answer.insert("affordances".to_owned(), json!([]));
    answer.insert("tools_from_here".to_owned(), here.into());
    answer.insert("next_states".to_owned(), next.into_iter().collect());
    if !back.is_empty() {
        answer.insert("tools_that_produce_this_state".to_owned(), back.into());
    }
    add_skills(&mut answer, graph, &around);
    if let Some(hint) = hint {
        answer.insert("hint".to_owned(), hint.into());
    }
    answer.into()
}

fn path(graph: &Graph<'_>, source: &str, target: &str) -> Value {
    if source.is_empty() || target.is_empty() {
        return json!({
            "error": "Provide both 'state' (source) and 'target_state' parameters."
        });
    }
    let Some(moves) = graph.path(source, target) else {
        let domain = domain_of(source);
        let hint = format!(
            "No annotated tool path from '{source}' to '{target}'. You can use \
             execute_{domain}_code to accomplish tasks not covered by the annotated tool graph."
        );
        return json!({"source": source, "target": target, "path": null, "hint": hint});
    };
    let mut around: HashSet<&str> = [source, target].into();
    around.extend(moves.iter().flat_map(|one| [one.from, one.to]));
    let steps: Vec<Value> = moves
        .iter()
        .filter_map(|one| {
            let step = graph.steps.get(one.step)?;
            Some(json!({
                "tool": step.name, "server": step.server,
                "from_state": one.from, "to_state": one.to,
            }))
        })
        .collect();
    let mut answer = Map::new();
    answer.insert("source".to_owned(), source.into());
    answer.insert("target".to_owned(), target.into());
    answer.insert("path".to_owned(), steps.into());
    add_skills(&mut answer, graph, &around);
    answer.into()
}

fn tool(graph: &Graph<'_>, name: &str) -> Value {
    if name.is_empty() {
        return json!({"error": "Provide a 'tool_name' parameter."});
    }
    match graph.steps.iter().find(|step| step.name == name) {
        Some(step) => summary(step),
        None => json!({
            "error": format!("Tool '{name}' not found in the state graph."),
            "hint": "The tool may exist but have no state annotations. \
                     Use search_tools to find it by name or description.",
        }),
    }
}

fn summary(step: &Step<'_>) -> Value {
    json!({
        "name": step.name, "server": step.server, "description": step.description,
        "requires": step.requires, "produces": step.produces,
    })
}

/// The skills that have to do with one of these states.
fn add_skills(answer: &mut Map<String, Value>, graph: &Graph<'_>, states: &HashSet<&str>) {
    let concerns =
        |skill: &&&Skill| skill.states.iter().any(|state| states.contains(state.as_str()));
    let skills: Vec<Value> = graph
        .skills
        .iter()
        .filter(concerns)
        .map(|one| {
            json!({
                "name": one.name, "description": one.description, "domain": one.domain,
                "states": one.states,
            })
        })
        .collect();
    if !skills.is_empty() {
        answer.insert("relevant_skills".to_owned(), skills.into());
    }
}
