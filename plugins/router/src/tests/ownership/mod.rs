//! Whose ids are whose, with a fake host and the texts of real servers.

mod answers;
mod routes;
mod sends;
mod shape;
mod texts;

use plugway_sdk::testing::{Host, plugin};
use serde_json::{Value, json};

use crate::component::DefaultRouter;

/// A session as servers give it to clients of the modern era, and one of the legacy era.
const SESSION: &str = "0b6d1f58-65c3-4f7e-9c31-2f0f6c2f7a11";
const OTHER: &str = "7c1e2a90aaaa4bbb8cccddddeeee0001";

fn router() -> DefaultRouter {
    plugin("{}").unwrap()
}

/// A call of a tool of the server `lab`, which calls itself `chem`.
fn call_of(host: &Host, caller: &str, own: &str, arguments: Value) {
    host.caller(caller)
        .call("tools/call", &own.replace("chem", "lab"))
        .target("lab", own)
        .arguments(arguments);
}

/// What a server of the reference answers with this text.
fn wrapped(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}, "isError": false})
}

/// JSON as Python writes it with `indent=2`: what is not ASCII is escaped.
fn python(value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap();
    let units = pretty.chars().flat_map(|c| {
        let escaped = if c.is_ascii() {
            vec![c.to_string()]
        } else {
            c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        };
        escaped.into_iter()
    });
    units.collect()
}
