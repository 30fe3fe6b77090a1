//! What the router offers of its own: the status of the servers, as a tool and as a resource. The host has the live data.

use plugway_sdk::prelude::{Entry, Target};
use serde_json::{Value, json};

use crate::config::Settings;
use crate::names::Namer;

/// The attribute of a connector that asks for the status: `true` or `false`.
pub const WANTED: &str = "status";

/// The attribute of a call with the live data, as JSON.
pub const LIVE: &str = "connector-status";

/// Shown name of the tool, by the rules of all names.
pub fn tool_name(connector: &str) -> String {
    let settings = Settings::default();
    Namer { upstream: connector, settings: &settings, own_name: None }.shown("tool", "status")
}

/// URI of the resource.
pub fn uri(connector: &str) -> String {
    format!("plugway://{connector}/status")
}

/// The tool.
pub fn tool(connector: &str) -> Entry {
    let definition = json!({
        "name": tool_name(connector),
        "title": format!("Status of the servers behind {connector}"),
        "description": "Lists the servers behind this connector: whether each is connected, since when, when it is \
                        tried again, and its tools. Call it when a tool is missing or a server is said to be away.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
        "outputSchema": output_schema(),
        "annotations": {
            "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
        },
    });
    Entry::local_tool(definition.to_string())
}

/// The resource.
pub fn resource(connector: &str) -> Entry {
    let definition = json!({
        "uri": uri(connector),
        "name": tool_name(connector),
        "title": format!("Status of the servers behind {connector}"),
        "mimeType": "application/json",
    });
    Entry { kind: "resource".to_owned(), definition: definition.to_string(), target: Target::Local }
}

fn output_schema() -> Value {
    let (text, count) = (json!({"type": "string"}), json!({"type": "integer", "minimum": 0}));
    json!({
        "type": "object",
        "required": ["connector", "servers"],
        "properties": {
            "connector": text,
            "servers": {"type": "array", "items": {
                "type": "object",
                "required": ["name", "state", "since", "since_seconds", "attempt", "listed", "tools", "tool_count"],
                "properties": {
                    "name": text,
                    "state": {"enum": ["connected", "reconnecting", "disconnected"]},
                    "since": {"type": "string", "description": "RFC 3339"},
                    "since_seconds": count,
                    "attempt": {"type": "integer", "minimum": 0, "description": "failed attempts in a row"},
                    "next_attempt_seconds": count,
                    "reason": {"type": "string", "description": "why it is not connected"},
                    "listed": {"type": "boolean", "description": "whether its tools stand in the lists"},
                    "tools": {"type": "array", "items": text},
                    "tool_count": count,
                },
            }},
        },
    })
}

/// Result of the tool: the status as text and as structured content. `modern` is the era of the call.
pub fn called(status: &str, modern: bool) -> String {
    let kind = if modern { r#""resultType":"complete","# } else { "" };
    let text = Value::from(status);
    format!(r#"{{{kind}"content":[{{"type":"text","text":{text}}}],"structuredContent":{status}}}"#)
}

/// Result of reading the resource: never kept, it is another one at every moment.
pub fn read(uri: &str, status: &str, modern: bool) -> String {
    let kind =
        if modern { r#""resultType":"complete","ttlMs":0,"cacheScope":"private","# } else { "" };
    let contents = json!([{"uri": uri, "mimeType": "application/json", "text": status}]);
    format!(r#"{{{kind}"contents":{contents}}}"#)
}
