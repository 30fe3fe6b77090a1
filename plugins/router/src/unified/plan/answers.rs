//! What the tool answers, in the reference's form and with its sentences.

use std::collections::{BTreeSet, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::graph::{Graph, Step, domain_of};
use super::overview;
use crate::unified::catalogue::Skill;
use crate::unified::cut;
use crate::unified::rooms::Rooms;

/// So many bytes of an argument are said again.
pub(super) const SAID_MAX: usize = 256;
/// Bytes of the steps and skills of an answer; what there is no room for is counted.
const ROOM: usize = 1 << 20;

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
        "overview" => overview::answer(graph, &question.domain),
        "next_steps" => next_steps(graph, &question.current_state),
        "path" => path(graph, &question.current_state, &question.target_state),
        "tool" => tool(graph, &question.tool_name),
        other => {
            let other = cut(other, SAID_MAX);
            let error = format!("Unknown mode '{other}'. Use: overview, next_steps, path, tool.");
            json!({"error": error})
        }
    }
}

fn next_steps<'a>(graph: &Graph<'a>, state: &str) -> Value {
    if state.is_empty() {
        return json!({"error": "Provide a 'state' parameter (e.g. 'domain.state_name')."});
    }
    let around = || graph.from_state(state).chain(graph.to_state(state));
    let mut room = Rooms::new(ROOM, around().map(|step| step.server));
    let mut left = graph.left_out;
    let mut told = |step: &Step<'a>| {
        let value = (!room.is_full(step.server)).then(|| summary(step));
        let value = value.filter(|value| room.take(step.server, value.to_string().len()));
        left += usize::from(value.is_none());
        value
    };
    let here: Vec<Value> = graph.from_state(state).filter_map(&mut told).collect();
    let back: Vec<Value> = graph.to_state(state).filter_map(&mut told).collect();
    let next: BTreeSet<&str> =
        graph.from_state(state).flat_map(|step| step.produces.iter().copied()).collect();
    let around: HashSet<&str> = next.iter().copied().chain([state]).collect();
    let hint = here.is_empty().then(|| {
        let domain = cut(domain_of(state), SAID_MAX);
        let state = cut(state, SAID_MAX);
        format!(
            "No annotated tools transition from '{state}'. You can always use \
             execute_{domain}_code to work directly in the {domain} environment."
        )
    });
    let mut answer = Map::new();
    answer.insert("state".to_owned(), cut(state, SAID_MAX).into());
    answer.insert("affordances".to_owned(), json!([]));
    answer.insert("tools_from_here".to_owned(), here.into());
    answer.insert("next_states".to_owned(), next.into_iter().collect());
    if !back.is_empty() {
        answer.insert("tools_that_produce_this_state".to_owned(), back.into());
    }
    left += add_skills(&mut answer, graph, &around);
    add_left_out(&mut answer, left);
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
        let [source, target] = [source, target].map(|state| cut(state, SAID_MAX));
        let domain = domain_of(&source);
        let hint = format!(
            "No annotated tool path from '{source}' to '{target}'. You can use \
             execute_{domain}_code to accomplish tasks not covered by the annotated tool graph."
        );
        let mut answer = Map::new();
        answer.insert("source".to_owned(), source.as_str().into());
        answer.insert("target".to_owned(), target.as_str().into());
        answer.insert("path".to_owned(), Value::Null);
        answer.insert("hint".to_owned(), hint.into());
        add_left_out(&mut answer, graph.left_out);
        return answer.into();
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
    answer.insert("source".to_owned(), cut(source, SAID_MAX).into());
    answer.insert("target".to_owned(), cut(target, SAID_MAX).into());
    answer.insert("path".to_owned(), steps.into());
    let left = graph.left_out + add_skills(&mut answer, graph, &around);
    add_left_out(&mut answer, left);
    answer.into()
}

fn tool(graph: &Graph<'_>, name: &str) -> Value {
    if name.is_empty() {
        return json!({"error": "Provide a 'tool_name' parameter."});
    }
    match graph.steps.iter().find(|step| step.name == name) {
        Some(step) => summary(step),
        None => json!({
            "error": format!("Tool '{}' not found in the state graph.", cut(name, SAID_MAX)),
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

/// Says how much there was no room for.
pub(super) fn add_left_out(answer: &mut Map<String, Value>, left: usize) {
    if left > 0 {
        answer.insert("left_out".to_owned(), left.into());
    }
}

/// The skills that have to do with one of these states; gives how many there was no room for.
fn add_skills(answer: &mut Map<String, Value>, graph: &Graph<'_>, states: &HashSet<&str>) -> usize {
    let concerns =
        |skill: &&&Skill| skill.states.iter().any(|state| states.contains(state.as_str()));
    let (mut room, mut left) = (ROOM / 2, 0);
    let mut skills: Vec<Value> = Vec::new();
    for one in graph.skills.iter().filter(concerns) {
        let skill = json!({
            "name": one.name, "description": one.description, "domain": one.domain,
            "states": one.states,
        });
        match room.checked_sub(skill.to_string().len()) {
            Some(rest) => {
                room = rest;
                skills.push(skill);
            }
            None => left += 1,
        }
    }
    if !skills.is_empty() {
        answer.insert("relevant_skills".to_owned(), skills.into());
    }
    left
}
