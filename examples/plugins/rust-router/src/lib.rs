//! Names tools `server__tool`, and serves two tools by itself: `list_servers`, and `ask_servers`, which calls one tool at
//! several servers and puts the answers together.
//!
//! A complete third-party plugin: nothing but the SDK and a JSON library is needed.

use plugway_sdk::answer;
use plugway_sdk::prelude::*;
use serde_json::{Value, json};

/// Servers that one call asks.
const SERVERS_MAX: usize = 16;

/// The router; it has no settings.
#[derive(Debug)]
pub struct NamesAndAsks;

impl Plugin for NamesAndAsks {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Router for NamesAndAsks {
    fn shape(&self, connector: ConnectorView) -> Result<Shaped, Failure> {
        // What `answer` needs later goes into the document: instances come and go.
        let servers: Vec<&str> = connector.upstreams.iter().map(|server| &*server.name).collect();
        let document = json!(servers).to_string();
        let mut entries = vec![
            Entry::local_tool(list_servers().to_string()),
            Entry::local_tool(ask_servers(&servers).to_string()),
        ];
        for server in connector.upstreams {
            for definition in server.tools {
                // What is no tool costs its own place, not those of others.
                let Ok(Value::Object(mut tool)) = serde_json::from_str(&definition) else {
                    continue;
                };
                let Some(Value::String(own)) = tool.get("name").cloned() else { continue };
                tool.insert("name".to_owned(), format!("{}__{own}", server.name).into());
                let definition = Value::Object(tool).to_string();
                entries.push(Entry::tool(definition, server.name.as_str(), own));
            }
        }
        Ok(Shaped { entries, document, ..Shaped::default() })
    }
}

impl Answering for NamesAndAsks {
    fn answer(&self) -> Result<Reply, Failure> {
        match call::name().as_str() {
            "list_servers" => {
                let servers: Value = serde_json::from_str(&catalogue::document())?;
                answer::structured(&json!({ "servers": servers })).map(Reply::Answer)
            }
            _ => ask(),
        }
    }
}

/// What `ask_servers` is told.
#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Question {
    tool: String,
    #[serde(default)]
    arguments: Value,
    servers: Vec<String>,
}

/// Asks each server as the caller, under the same policies; one that fails costs its own answer.
fn ask() -> Result<Reply, Failure> {
    let question: Question = match call::arguments() {
        Ok(question) => question,
        Err(_) => return Ok(Reply::refuse("Say `tool` and `servers`; `arguments` is an object.")),
    };
    if question.servers.len() > SERVERS_MAX {
        return Ok(Reply::refuse(format!("Ask at most {SERVERS_MAX} servers at once.")));
    }
    let arguments = match question.arguments {
        Value::Null => json!({}),
        given => given,
    };
    let params = json!({"name": question.tool, "arguments": arguments}).to_string();
    let answers = question.servers.iter().map(|server| {
        match upstreams::request(server, "tools/call", &params) {
            Ok(result) => {
                let result: Value = serde_json::from_str(&result)?;
                Ok(json!({"server": server, "result": result}))
            }
            Err(error) => Ok(json!({"server": server, "error": error})),
        }
    });
    let answers: Result<Vec<Value>, Failure> = answers.collect();
    answer::structured(&json!({ "answers": answers? })).map(Reply::Answer)
}

fn list_servers() -> Value {
    json!({
        "name": "list_servers",
        "description": "The servers that `ask_servers` can ask.",
        "inputSchema": {"type": "object", "additionalProperties": false},
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
    })
}

fn ask_servers(servers: &[&str]) -> Value {
    json!({
        "name": "ask_servers",
        "description": "Calls one tool, by the name that the servers themselves give it, at several servers.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool": {"type": "string"},
                "arguments": {"type": "object"},
                "servers": {
                    "type": "array", "maxItems": SERVERS_MAX, "items": {"enum": servers},
                },
            },
            "required": ["tool", "servers"],
            "additionalProperties": false,
        },
    })
}

plugway_sdk::export!(NamesAndAsks: router, answering);

#[cfg(test)]
mod tests;
