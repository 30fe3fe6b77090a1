//! What a call says beside its name and its arguments and servers may heed: it is shown, and confirmed with the rest.

use std::collections::BTreeMap;

use crate::pipeline::answer::json_string;
use crate::pipeline::exchange::Call;
use crate::protocol::message::string;
use crate::protocol::{Message, header, scan};

/// Members of params that the question shows elsewhere, or that belong to a retry.
const ELSEWHERE: [&str; 5] = ["name", "uri", "arguments", "inputResponses", "requestState"];
const META: &str = "_meta";
/// Members of `_meta` of the protocol's own, which belong to the one request.
const PROTOCOL: &str = "io.modelcontextprotocol/";
/// Further members of `_meta` that are others for each request: where progress is told, and the place in a trace.
const OF_REQUEST: [&str; 3] = ["progressToken", "traceparent", "tracestate"];

/// JSON texts of objects; none where nothing would stand in them.
pub(super) struct Further {
    /// Members of the params, `_meta` among them.
    pub(super) members: Option<String>,
    /// `Mcp-Param-*` headers that go along. One that repeats an argument is the argument.
    pub(super) headers: Option<String>,
}

impl Further {
    /// Of a call as it will be sent.
    pub(super) fn of(call: &Call<'_>) -> Self {
        Self { members: members(&call.request.message), headers: headers(call) }
    }
}

fn members(message: &Message) -> Option<String> {
    let params = message.params()?;
    let mut kept = Vec::new();
    for (key, member) in parts(params) {
        match key.as_str() {
            META => kept.extend(meta(member)),
            key if ELSEWHERE.contains(&key) => {}
            key => kept.push(format!("{}:{member}", json_string(key))),
        }
    }
    object(&kept)
}

/// `_meta` without what is none of the call's; none where nothing is left.
fn meta(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return (text != "null").then(|| format!("\"{META}\":{text}"));
    }
    let others = parts(text)
        .into_iter()
        .filter(|(key, _)| !key.starts_with(PROTOCOL) && !OF_REQUEST.contains(&key.as_str()));
    let kept: Vec<String> =
        others.map(|(key, member)| format!("{}:{member}", json_string(&key))).collect();
    object(&kept).map(|kept| format!("\"{META}\":{kept}"))
}

fn headers(call: &Call<'_>) -> Option<String> {
    let mirrored = &call.entry.mirrored;
    let passed = call.request.passed.iter().filter(|(name, _)| {
        name.as_str().starts_with(header::PARAM_PREFIX)
            && !mirrored.iter().any(|mirrored| mirrored.header() == name)
    });
    // Headers come in any order; those of one name in one that has a meaning, as if they were one.
    let mut values: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in passed {
        let joined = values.entry(name.as_str()).or_default();
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        // What is no plain ASCII is escaped: different bytes stay different.
        joined.extend(value.as_bytes().escape_ascii().map(char::from));
    }
    let kept: Vec<String> = values
        .into_iter()
        .map(|(name, value)| format!("{}:{}", json_string(name), json_string(&value)))
        .collect();
    object(&kept)
}

/// Keys and values of an object.
fn parts(object: &str) -> Vec<(String, &str)> {
    let members = scan::members(object).unwrap_or_default();
    let parts = members.into_iter().filter_map(|(key, value)| {
        let key = string(object.get(key.range())?)?.into_owned();
        Some((key, object.get(value.range())?))
    });
    parts.collect()
}

fn object(members: &[String]) -> Option<String> {
    (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
}
