use plugway_sdk::prelude::{ConnectorView, Entry, UpstreamView};
use plugway_sdk::testing::Host;

use crate::config::Options;
use crate::shape::shape;
use crate::warning::Warning;

mod actions;
mod lazy;
mod names;
mod ownership;
mod properties;
mod speed;
mod status;
mod unified;
mod whole;

fn upstream(name: &str, tools: &[&str]) -> UpstreamView {
    let tools = tools.iter().map(|tool| tool_named(tool)).collect();
    UpstreamView {
        name: name.to_owned(),
        server_name: name.to_owned(),
        up: true,
        tools,
        prompts: Vec::new(),
        resources: Vec::new(),
        templates: Vec::new(),
        documents: Vec::new(),
        settings: String::new(),
    }
}

fn tool_named(name: &str) -> String {
    serde_json::json!({"name": name, "inputSchema": {"type": "object"}}).to_string()
}

fn connector(upstreams: Vec<UpstreamView>) -> ConnectorView {
    ConnectorView {
        name: "hub".to_owned(),
        description: String::new(),
        upstreams,
        attributes: Vec::new(),
    }
}

fn shaped(upstreams: Vec<UpstreamView>) -> (Vec<Entry>, Vec<Warning>) {
    let (shaped, warnings) = shape(connector(upstreams), &Options::default()).unwrap();
    (shaped.entries, warnings)
}

/// The shown name (or URI) of an entry.
fn shown(entry: &Entry) -> String {
    let value: serde_json::Value = serde_json::from_str(&entry.definition).unwrap();
    let key = match entry.kind.as_str() {
        "resource" => "uri",
        "template" => "uriTemplate",
        _ => "name",
    };
    value[key].as_str().unwrap().to_owned()
}

/// What the host knows an entry by.
fn known_as(entry: &Entry) -> String {
    let name = shown(entry);
    match entry.target.upstream() {
        Some((server, own)) if entry.kind == "function" && own == name => {
            format!("{server}.{name}")
        }
        Some((server, own)) if entry.kind == "function" => format!("{server}.{name}\t{own}"),
        _ => name,
    }
}

/// Lists the entries as the host does, but for those that are hidden from the caller.
fn list(host: &Host, entries: &[Entry], up: &[String], hidden: &[&str]) {
    for entry in entries {
        let name = known_as(entry);
        if hidden.contains(&name.as_str()) {
            continue;
        }
        let upstream = entry.target.upstream();
        if upstream.is_some_and(|(from, _)| !up.iter().any(|up| up == from)) {
            host.away(&entry.kind, &name);
        } else {
            let definition = serde_json::from_str(&entry.definition).unwrap();
            host.entry(&entry.kind, &name, &definition);
        }
    }
}

fn names(upstreams: Vec<UpstreamView>) -> Vec<String> {
    shaped(upstreams).0.iter().map(shown).collect()
}

fn target(entry: &Entry) -> (&str, &str) {
    entry.target.upstream().unwrap_or_else(|| panic!("not fixed: {entry:?}"))
}
