//! Answers every call with JSON of everything that it can read.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;
use serde_json::{Map, Value, json};

/// Which names to ask for.
#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields, default)]
#[derive(Default)]
struct Config {
    headers: Vec<String>,
    pointers: Vec<String>,
    hints: Vec<String>,
    attributes: Vec<String>,
    scopes: Vec<String>,
    claims: Vec<String>,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        log::log(log::Level::Info, "imports_echo was asked", &[("method", &call::method())]);
        let all = json!({
            "call": self.call(),
            "caller": self.caller(),
            "catalogue": catalogue_json(),
            "clock": {"monotonic_us": clock::monotonic_us(), "unix_ms": clock::unix_ms()},
            "random": [random::next(), random::next()],
            "state": state_json(),
            "log": {"trace": log::enabled(log::Level::Trace), "error": log::enabled(log::Level::Error)},
        });
        plugway_sdk::answer::structured(&all).map(Admit::Answer)
    }
}

impl Guest {
    fn call(&self) -> Value {
        json!({
            "from_client": call::direction() == call::Way::FromClient,
            "method": call::method(),
            "name": call::name(),
            "target": call::target(),
            "session": call::session(),
            "headers": each(&self.0.headers, call::header),
            "arguments_len": call::arguments_len(),
            "arguments_json": call::arguments_json(),
            "arguments": each(&self.0.pointers, call::argument_json),
            "hints": each(&self.0.hints, call::hint),
            "attempt": call::attempt(),
            "retry_of": call::retry_of(),
            "deadline_ms": call::deadline_ms(),
            "attributes": each(&self.0.attributes, call::attribute),
        })
    }

    fn caller(&self) -> Value {
        json!({
            "id": caller::id(),
            "display": caller::display(),
            "anonymous": caller::anonymous(),
            "tenant": caller::tenant(),
            "client": caller::client(),
            "scopes": each(&self.0.scopes, caller::has_scope),
            "claims": each(&self.0.claims, caller::claim_json),
        })
    }
}

fn catalogue_json() -> Value {
    json!({
        "generation": catalogue::generation(),
        "document": catalogue::document(),
        "count": catalogue::count(),
        "entries": catalogue::entries().collect::<Vec<_>>(),
        "past_the_end": catalogue::entry(u32::MAX),
        "place": catalogue::find("tool", &call::name()),
    })
}

/// Each function of `state` once, and the sum of all calls so far.
fn state_json() -> Value {
    json!({
        "next": state::next(3),
        "add": state::add("calls", 1, None),
        "set": state::set("text", "kept", Some(60_000)),
        "get": state::get("text"),
        "compare_and_set": state::compare_and_set("text", Some("kept"), "swapped", None),
        "compare_and_set_again": state::compare_and_set("text", Some("kept"), "lost", None),
        "swapped": state::get("text"),
        "removed": removed("text"),
        "take": state::take("window", 1, 1, 60_000).err(),
        "draw": state::draw("bucket", 1, 1, 1).err(),
    })
}

fn removed(key: &str) -> Option<String> {
    state::remove(key);
    state::get(key)
}

fn each<V: Into<Value>>(names: &[String], ask: impl Fn(&str) -> V) -> Map<String, Value> {
    names.iter().map(|name| (name.clone(), ask(name).into())).collect()
}

plugway_sdk::export!(Guest: admission);
