//! What is checked in is what the types say, and examples are what the schema says.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{markdown, schema};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[expect(clippy::disallowed_methods, reason = "a test reads files of the repository")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn what_is_checked_in_is_current() {
    let schema = schema();
    let printed = format!("{schema:#}\n");
    for (file, wanted, words) in [
        ("schema/plugway.json", printed, ""),
        ("docs/config.md", format!("{}\n", markdown(&schema).trim_end()), " --format markdown"),
    ] {
        let found = read(&repository().join(file));
        let line = found.lines().zip(wanted.lines()).position(|(found, wanted)| found != wanted);
        assert!(
            found == wanted,
            "{file} is not current from line {:?} on: `plugway schema{words} > {file}`",
            line.map(|line| line + 1)
        );
    }
}

#[test]
fn every_example_is_what_the_schema_says() {
    let schema = schema();
    let mut seen = 0;
    for topic in std::fs::read_dir(repository().join("examples")).unwrap() {
        let file = topic.unwrap().path().join("plugway.yaml");
        if file.is_file() {
            let example: Value = serde_saphyr::from_str(&read(&file)).unwrap();
            assert_eq!(misfit(&schema, &schema, &example), None, "{}", file.display());
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} examples");
}

#[test]
fn the_schema_refuses_what_plugway_refuses() {
    let schema = schema();
    let upstreams = json!([{"name": "a", "url": "http://x"}]);
    let with = |key: &str, value: Value| {
        let mut file = json!({"name": "hub", "upstreams": upstreams});
        file[key] = value;
        file
    };
    assert_eq!(misfit(&schema, &schema, &with("auth", json!("none"))), None);
    let lazily = json!({"mode": "lazy", "residents": ["a_*"], "cap": 8, "idle": "5m"});
    for discovery in [json!("lazy"), lazily] {
        assert_eq!(misfit(&schema, &schema, &with("discovery", discovery)), None);
    }
    let tokens = json!({"mode": "static", "tokens": {"x": {"client_id": "c", "scopes": []}}});
    assert_eq!(misfit(&schema, &schema, &with("auth", tokens)), None);
    for (key, value) in [
        ("upstreem", json!([])),
        ("upstreams", json!([{"nam": "a"}])),
        ("upstreams", json!({})),
        ("listen", json!(9000)),
        ("auth", json!("jwt")),
        ("auth", json!({"tokens": "env://T"})),
        ("limits", json!({"max_body": 4})),
        ("upstreams", json!([{"reconnect": {"attempts": 0}}])),
        ("upstreams", json!([{"unavailable": "hide"}])),
        ("upstreams", json!([{"server_requests": ["ping"]}])),
        ("upstreams", json!([{"transport": "ws"}])),
        ("server_info", json!({"icons": [{"src": 5}]})),
        ("policies", json!([{"config": {}}])),
        ("discovery", json!("lazily")),
        ("discovery", json!({"residents": []})),
        ("discovery", json!({"mode": "lazy", "cap": 0})),
        ("plugins", json!({"p": {"limits": {"time_ms": -1}}})),
    ] {
        let file = with(key, value.clone());
        assert!(misfit(&schema, &schema, &file).is_some(), "{key}: {value}");
    }
}

#[test]
fn every_key_is_described() {
    fn look(path: &str, schema: &Value, silent: &mut Vec<String>) {
        if let Some(keys) = schema.get("properties").and_then(Value::as_object) {
            for (key, value) in keys {
                if value.get("description").is_none() && value.get("$ref").is_none() {
                    silent.push(format!("{path}.{key}"));
                }
            }
        }
        let below = match schema {
            Value::Object(members) => {
                members.iter().map(|(key, value)| (key.clone(), value)).collect()
            }
            Value::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
            _ => Vec::new(),
        };
        for (key, value) in below {
            look(&format!("{path}/{key}"), value, silent);
        }
    }
    let mut silent = Vec::new();
    look("", &schema(), &mut silent);
    assert!(silent.is_empty(), "{silent:?}");
}

/// Why a value is not what a schema says: the parts of JSON Schema that ours uses, but for patterns of text.
fn misfit(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let definition = root.pointer(name.strip_prefix('#').unwrap()).unwrap();
        if let Some(misfit) = misfit(root, definition, value) {
            return Some(misfit);
        }
    }
    if let Some(names) = schema.get("type") {
        let names = names.as_array().cloned().unwrap_or_else(|| vec![names.clone()]);
        if !names.iter().any(|name| is_a(name.as_str().unwrap(), value)) {
            return Some(format!("{value} is none of {names:?}"));
        }
    }
    if schema.get("enum").is_some_and(|words| !words.as_array().unwrap().contains(value))
        || schema.get("const").is_some_and(|word| word != value)
        || value.as_i64() < schema.get("minimum").and_then(Value::as_i64)
    {
        return Some(format!("{value} is not in {schema}"));
    }
    for parts in ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()) {
        let misfits: Vec<_> = parts.iter().map(|part| misfit(root, part, value)).collect();
        if misfits.iter().all(Option::is_some) {
            return Some(format!("{misfits:?}"));
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        return values.iter().find_map(|value| misfit(root, items, value));
    }
    let members = value.as_object()?;
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    if let Some(missing) =
        required.filter_map(Value::as_str).find(|key| !members.contains_key(*key))
    {
        return Some(format!("{missing} is missing"));
    }
    members.iter().find_map(|(key, value)| {
        let known = schema.get("properties").and_then(|keys| keys.get(key));
        match (known, schema.get("additionalProperties")) {
            (Some(known), _) => misfit(root, known, value),
            (None, Some(Value::Bool(false))) => Some(format!("{key} is unknown")),
            (None, Some(entries)) if entries.is_object() => misfit(root, entries, value),
            (None, _) => None,
        }
    })
}

fn is_a(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
