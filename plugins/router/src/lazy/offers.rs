//! The tools as clients list them.

use plugway_sdk::prelude::Entry;
use serde_json::{Value, json};

use super::{find, load};

/// The attribute of a connector that says how its tools are discovered.
pub const WANTED: &str = "discovery";
/// Its value where not all of them are listed.
pub const LAZY: &str = "lazy";

/// Finds tools.
pub const FIND: &str = "find_tools";
/// Loads them.
pub const LOAD: &str = "load_tools";
/// Unloads them.
pub const UNLOAD: &str = "unload_tools";
/// Calls one of them. The host knows it by this name.
pub const CALL: &str = "call_tool";

/// The names, which are taken.
pub const NAMES: [&str; 4] = [FIND, LOAD, UNLOAD, CALL];

/// The tools of a connector.
pub fn of(connector: &str) -> [Entry; 4] {
    [find(connector), load(connector), unload(connector), call(connector)]
        .map(|definition| Entry::local_tool(definition.to_string()))
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn texts(most: usize, description: &str) -> Value {
    json!({
        "type": "array", "maxItems": most, "items": {"type": "string"}, "description": description,
    })
}

fn find(connector: &str) -> Value {
    let properties = json!({
        "query": {
            "type": "string", "maxLength": find::QUERY_MAX, "default": "",
            "description": "What the tool should do, in words, or a tool's name.",
        },
        "servers": texts(find::SERVERS_MAX, "Only tools of these servers."),
        "browse": {
            "type": "boolean", "default": false,
            "description": "Without words: every tool, page by page.",
        },
        "cursor": {
            "type": ["string", "null"], "maxLength": find::CURSOR_MAX,
            "description": "`next_cursor` of the page before; the other arguments stay as they were.",
        },
        "limit": {
            "type": "integer", "minimum": 1, "maximum": find::LIMIT_MAX, "default": find::LIMIT,
            "description": "Most tools of a page.",
        },
        "context_budget_tokens": {
            "type": ["integer", "null"], "minimum": find::TOKENS_MIN, "maximum": find::TOKENS_MAX,
            "description": "About so many tokens the page may have. Schemas of the last ones are left out first.",
        },
    });
    json!({
        "name": FIND,
        "title": format!("Find tools of {connector}"),
        "description": format!(
            "Finds tools of the servers behind {connector}, most of which are not listed: by words (`query`), of some \
             servers (`servers`), or all (`browse`). The best come first, with `input_schema` as far as there is room. \
             Call one with {CALL}, or load it with {LOAD}."
        ),
        "inputSchema": object(&properties),
        "annotations": {
            "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
        },
    })
}

/// They change what is listed, and nothing else.
fn harmless() -> Value {
    json!({
        "readOnlyHint": false, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
    })
}

fn load(connector: &str) -> Value {
    let mut items = texts(load::ITEMS_MAX, "Names of tools, as find_tools gives them.");
    if let Some(items) = items.as_object_mut() {
        items.insert("minItems".to_owned(), 1.into());
    }
    let properties = json!({
        "items": items,
        "auto_unload": {
            "type": "boolean", "default": false,
            "description": "Each is unloaded by its first call.",
        },
        "evict": {
            "enum": [null, "lru"], "default": null,
            "description": "`lru`: where there is no room, those are unloaded that were used the longest ago.",
        },
    });
    let mut schema = object(&properties);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("required".to_owned(), json!(["items"]));
    }
    json!({
        "name": LOAD,
        "title": format!("Load tools of {connector}"),
        "description": format!(
            "Gives the schemas of tools of {connector}. Where the client has a session, they stand in its list of tools \
             from then on; `callable_as` says by which name each is called."
        ),
        "inputSchema": schema,
        "annotations": harmless(),
    })
}

fn unload(connector: &str) -> Value {
    let properties = json!({
        "items": texts(load::ITEMS_MAX, "Names of tools."),
        "servers": texts(find::SERVERS_MAX, "Every tool of these servers."),
        "all_items": {"type": "boolean", "default": false, "description": "Every tool."},
    });
    json!({
        "name": UNLOAD,
        "title": format!("Unload tools of {connector}"),
        "description": "Takes loaded tools out of the list of tools again. What is always listed stays.",
        "inputSchema": object(&properties),
        "annotations": harmless(),
    })
}

fn call(connector: &str) -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let properties = json!({
        "name": text("Name of the tool, as find_tools gives it."),
        "server": text("Instead of `name`: the server that has it."),
        "tool": text("With `server`: the server's own name for it."),
        "arguments": {
            "type": "object", "description": "Its arguments, by its own schema.", "default": {},
        },
    });
    json!({
        "name": CALL,
        "title": format!("Call a tool of {connector}"),
        "description": format!(
            "Calls any tool of {connector}, be it loaded or not. The result is the tool's own."
        ),
        "inputSchema": object(&properties),
        "annotations": {
            "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true,
        },
    })
}
