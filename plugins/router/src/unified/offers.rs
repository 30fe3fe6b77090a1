//! The router's own tools as clients list them.

use plugway_sdk::prelude::Entry;
use serde_json::{Value, json};

use super::prepared::Prepared;
use super::published;
use crate::config::{Options, Unified};
use crate::names;

/// The shown names, by the rules of all names. They are taken whether or not there is something to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// `search_{connector}_tools`
    pub search: String,
    /// `plan_{connector}_workflow`
    pub plan: String,
    /// `load_{connector}_skill`
    pub load: String,
}

impl Names {
    /// The names of a connector.
    pub fn of(connector: &str) -> Self {
        Self {
            search: names::around("search", connector, "tools"),
            plan: names::around("plan", connector, "workflow"),
            load: names::around("load", connector, "skill"),
        }
    }

    /// Those that no server's tool may have.
    pub fn taken(self, unified: Unified) -> Vec<String> {
        match unified {
            Unified::None => Vec::new(),
            Unified::Search => vec![self.search],
            Unified::All => vec![self.search, self.plan, self.load],
        }
    }
}

/// What a connector offers of its own: the catalogue for others where it holds something; and where the tools are wanted the
/// search always, the plan where something has states, and loading where there are skills.
pub fn of(connector: &str, prepared: &Prepared, options: &Options) -> Vec<Entry> {
    let mut offers = Vec::new();
    let names = Names::of(connector);
    if options.unified_tools != Unified::None {
        offers.push(Entry::local_tool(search(connector, &names.search).to_string()));
    }
    if options.unified_tools == Unified::All {
        if prepared.has_states() {
            offers.push(Entry::local_tool(plan(connector, &names.plan).to_string()));
        }
        if !prepared.skills.is_empty() {
            offers.push(Entry::local_tool(load(connector, &names.load).to_string()));
        }
    }
    if !prepared.published.is_empty() {
        offers.push(published::resource(connector));
    }
    offers
}

fn annotations() -> Value {
    json!({
        "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
        "openWorldHint": false,
    })
}

fn search(connector: &str, name: &str) -> Value {
    let properties = json!({
        "query": {
            "type": "string",
            "description": "What the tool should do, in words, or a tool's name. Empty: the first ones of all.",
        },
        "top": {
            "type": "integer", "minimum": 0, "default": 5,
            "description": "Maximum number of results of each category, at most 1000.",
        },
        "category": {
            "type": "string", "default": "all",
            "description": "\"all\", \"tools\" or \"skills\".",
        },
    });
    json!({
        "name": name,
        "title": format!("Search the tools of {connector}"),
        "description": format!(
            "Searches the tools and skills of all servers behind {connector} by name and description. The best come \
             first, in the arrays `tools` and `skills`; `to_access` says how to use each, `available` whether it can be \
             used now."
        ),
        "inputSchema": {
            "type": "object", "properties": properties, "required": ["query"],
            "additionalProperties": false,
        },
        "annotations": annotations(),
    })
}

fn plan(connector: &str, name: &str) -> Value {
    let text =
        |description: &str| json!({"type": "string", "default": "", "description": description});
    let properties = json!({
        "domain": text("For `overview`: only this domain. Empty: all."),
        "mode": {
            "type": "string", "default": "overview",
            "description": "`overview`, `next_steps`, `path` or `tool`.",
        },
        "current_state": text("A state, for `next_steps` and `path`."),
        "target_state": text("The state to reach, for `path`."),
        "tool_name": text("A tool's name, for `tool`."),
    });
    json!({
        "name": name,
        "title": format!("Plan workflows over {connector}"),
        "description": format!(
            "Tells how the functions of all servers behind {connector} lead from one state of the work to the next. \
             `overview`: all states and steps, and the bridges between servers. `next_steps`: what can be done in a \
             state. `path`: a way from one state to another. `tool`: the states of one function. Nothing is carried \
             over a bridge: pass the values on yourself."
        ),
        "inputSchema": {
            "type": "object", "properties": properties, "additionalProperties": false,
        },
        "annotations": annotations(),
    })
}

fn load(connector: &str, name: &str) -> Value {
    let properties = json!({
        "skill_name": {"type": "string", "description": "The skill's name, as the search shows it."},
        "upstream": {
            "type": "string", "default": "",
            "description": "The server that has it. Empty: the one that has a skill of this name.",
        },
    });
    json!({
        "name": name,
        "title": format!("Load a skill of {connector}"),
        "description": format!(
            "Loads the instructions of a skill of one of the servers behind {connector}, as Markdown. `upstream` is needed \
             where several servers have a skill of that name."
        ),
        "inputSchema": {
            "type": "object", "properties": properties, "required": ["skill_name"],
            "additionalProperties": false,
        },
        "annotations": annotations(),
    })
}
