//! Which server's skill a name means.

use std::collections::BTreeSet;

use plugway_sdk::prelude::upstreams;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cut;
use super::prepared::{Loadable, Prepared};
use super::sight::Sight;

/// So many bytes of an argument are said again.
const SAID_MAX: usize = 256;

/// The tool's arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The skill's name.
    pub skill_name: String,
    /// The server that has it, empty where one is not named.
    #[serde(default)]
    pub upstream: String,
}

/// Loads a skill from its server, by the server's own tool, as the caller. The server's answer is the answer; the error is
/// one sentence.
pub fn load(prepared: &Prepared, loadable: &Loadable) -> Result<String, String> {
    let way = prepared.way(loadable.way).zip(prepared.owns.get(&loadable.way));
    let Some(((_, server), own)) = way else { return Err("The skill is lost.".to_owned()) };
    let params = json!({"name": own, "arguments": {"skill_name": loadable.skill.name}});
    upstreams::request(&server.name, "tools/call", &params.to_string()).map_err(|error| {
        // JSON of an error of JSON-RPC, or a sentence.
        let read: Option<Value> = serde_json::from_str(&error).ok();
        let message = read.as_ref().and_then(|error| error.get("message")?.as_str());
        message.map(str::to_owned).unwrap_or(error)
    })
}

/// The skill of this name that the caller may know of, at the server of this name if one is given. The error is what the
/// tool answers: no such skill, no such server, or several servers that have one.
pub fn resolve<'a>(
    prepared: &'a Prepared,
    sight: &Sight,
    name: &str,
    server: &str,
) -> Result<&'a Loadable, Value> {
    let ways = (0..).zip(&prepared.ways).filter(|(place, _)| sight.sees(*place));
    let known: BTreeSet<&str> =
        ways.filter_map(|(place, _)| Some(prepared.way(place)?.1.name.as_str())).collect();
    if !server.is_empty() && !known.contains(server) {
        let error = format!("Unknown upstream '{}'.", cut(server, SAID_MAX));
        return Err(json!({"error": error, "available_upstreams": known}));
    }
    let here: Vec<(&Loadable, &str)> = prepared
        .skills
        .iter()
        .filter(|one| sight.sees(one.way))
        .filter_map(|one| Some((one, prepared.way(one.way)?.1.name.as_str())))
        .filter(|(_, of)| server.is_empty() || *of == server)
        .collect();
    let mut found: Vec<_> = here.iter().filter(|(one, _)| one.skill.name == name).collect();
    // A server that lists a skill twice has it once.
    found.dedup_by_key(|(_, of)| *of);
    match found.as_slice() {
        [(one, _)] => Ok(*one),
        [] => {
            let available: BTreeSet<&str> =
                here.iter().map(|(one, _)| one.skill.name.as_str()).collect();
            let error = format!("Skill '{}' not found.", cut(name, SAID_MAX));
            Err(json!({"error": error, "available_skills": available}))
        }
        several => {
            let names: Vec<String> = several.iter().map(|(_, of)| format!("'{of}'")).collect();
            let names = names.join(", ");
            let error = format!(
                "Skill '{name}' exists on multiple upstreams: [{names}]. \
                 Specify the 'upstream' parameter to disambiguate."
            );
            let matches: Vec<Value> = several
                .iter()
                .map(|(one, of)| json!({"skill_name": one.skill.name, "upstream": of}))
                .collect();
            Err(json!({"error": error, "matches": matches}))
        }
    }
}
