//! The tools of one server, as far as they are split.

use std::collections::{HashMap, HashSet};

use super::{ARGUMENT, BYTES_MAX, Part, size, split};
use crate::head::Head;
use crate::names::Namer;
use crate::object::Object;
use crate::ownership::guards::Guards;

/// Tools that have an argument `action`, by their own names: the shown names and tools that they are split into, or none
/// where they have to stay whole.
#[derive(Debug, Default)]
pub struct Split(HashMap<String, Option<Vec<(String, Part)>>>);

impl Split {
    /// Splits the tools of a server whose operator wants it. An action that a tool of its own does already, by the same
    /// name, stays there. What is asked about ids that belong to somebody is judged call by call, and stays whole.
    pub fn of(kind: &str, namer: &Namer<'_>, guards: &Guards, tools: &[(String, Head)]) -> Self {
        if kind != "tool" || !namer.settings.split_actions {
            return Self::default();
        }
        let own: HashSet<&str> = tools.iter().map(|(_, head)| &*head.text).collect();
        let (mut left, mut all) = (BYTES_MAX, Vec::new());
        for (definition, head) in tools.iter().filter(|(definition, _)| has_argument(definition)) {
            let parts = if guards.has(&head.text) { None } else { split(definition, left) };
            left -= parts.as_deref().map_or(0, |parts| size(parts).min(left));
            all.push((&*head.text, parts));
        }
        let mut times: HashMap<String, u32> = HashMap::new();
        for part in all.iter().filter_map(|(_, parts)| parts.as_deref()).flatten() {
            *times.entry(part.action.clone()).or_default() += 1;
        }
        let named = |tool: &str, parts: Vec<Part>| {
            let parts = parts.into_iter().filter(|part| !own.contains(&*part.action));
            let named = parts.map(|part| {
                let shared = times.get(&part.action).is_some_and(|times| *times > 1);
                (namer.action(tool, &part.action, shared), part)
            });
            named.collect()
        };
        let all = all.into_iter();
        Self(
            all.map(|(tool, parts)| (tool.to_owned(), parts.map(|one| named(tool, one)))).collect(),
        )
    }

    /// What becomes of a tool: none if it is no concern of this, none inside if it stays whole against the operator's wish.
    pub fn take(&mut self, own: &str) -> Option<Option<Vec<(String, Part)>>> {
        self.0.remove(own)
    }
}

fn has_argument(definition: &str) -> bool {
    let read = || {
        let tool = Object::parse(definition)?;
        let schema = Object::parse(tool.get("inputSchema")?)?;
        Some(Object::parse(schema.get("properties")?)?.get(ARGUMENT).is_some())
    };
    read().unwrap_or(false)
}
