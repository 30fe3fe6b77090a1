//! Which server's skill a name means.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::prepared::{Loadable, Prepared};
use super::sight::Sight;

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
        let error = format!("Unknown upstream '{server}'.");
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
            let error = format!("Skill '{name}' not found.");
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
