//! What a shape leaves, and what it does with too much.

use std::time::{Duration, Instant};

use plugway_sdk::prelude::*;
use plugway_sdk::testing::plugin;
use serde_json::json;

use super::{Served, chem, connector, executing, function, on, prepared, upstream};
use crate::component::DefaultRouter;
use crate::config::{Options, Settings};
use crate::shape::shape;
use crate::unified::gather::{self, Room, Source};
use crate::unified::wire;
use crate::warning::Warning;

fn names(upstreams: Vec<UpstreamView>, options: &Options) -> Vec<String> {
    let (shaped, _) = shape(connector(upstreams), options).unwrap();
    let listed = shaped.entries.iter().filter(|entry| entry.kind != "function");
    listed.map(super::shown).collect()
}

#[test]
fn the_tools_are_there_where_they_are_wanted_and_have_an_answer() {
    assert_eq!(names(vec![upstream("a", &["x"])], &Options::default()), ["a_x"]);
    assert_eq!(names(vec![upstream("a", &["x"])], &on(Vec::new())), ["a_x", "search_hub_tools"]);
    let with_states = names(vec![chem()], &on(Vec::new()));
    let own = ["search_hub_tools", "plan_hub_workflow", "load_hub_skill", "plugway://hub/catalog"];
    assert_eq!(with_states[2..], own);
    // A name of theirs is theirs from the beginning: nothing moves when a server comes.
    let mut taker = upstream("taker", &["x"]);
    taker.settings = r#"{"aliases": {"x": "plan_hub_workflow"}}"#.to_owned();
    assert_eq!(names(vec![taker], &on(Vec::new())), ["search_hub_tools"]);
    // Without them there is still something to tell other connectors, where a server runs code.
    let without = names(vec![chem()], &Options::default());
    assert_eq!(without, ["execute_chem_code", "load_chem_skill", "plugway://hub/catalog"]);
    let (shaped, _) = shape(connector(vec![upstream("a", &["x"])]), &Options::default()).unwrap();
    assert!(shaped.document.is_empty());
    // And nobody stands in its place.
    let mut liar = upstream("liar", &[]);
    liar.resources = vec![r#"{"uri": "plugway://hub/catalog", "name": "x"}"#.to_owned()];
    assert!(names(vec![liar], &Options::default()).is_empty());
}

#[test]
fn the_configuration_is_checked() {
    for (config, sentence) in [
        (
            json!({"unified_tool": true}),
            "unified_tool: unknown field `unified_tool`, expected `unified_tools` or `bridges`",
        ),
        (
            json!({"bridges": [{"from_state": "a", "to_state": "b"}]}),
            "bridges: bridges are part of the plan that `unified_tools: true` offers",
        ),
        (
            json!({"unified_tools": "search", "bridges": [{"from_state": "a", "to_state": "b"}]}),
            "bridges: bridges are part of the plan that `unified_tools: true` offers",
        ),
        (
            json!({"unified_tools": "plan"}),
            "unified_tools: invalid value: string \"plan\", expected `true`, `false` or `search`",
        ),
        (
            json!({"unified_tools": true, "bridges": [{"from_state": "a", "to_state": ""}]}),
            "bridges[0].to_state: a state is needed",
        ),
    ] {
        let error = plugin::<DefaultRouter>(&config.to_string()).unwrap_err();
        assert_eq!(error.to_string(), sentence);
    }
    let schema: serde_json::Value = serde_json::from_str(crate::config::SCHEMA).unwrap();
    assert_eq!(schema["properties"].as_object().unwrap().len(), 2);
}

#[test]
fn a_catalogue_is_data() {
    let mut odd = executing("odd", &[function("good", "", &[], &[])], &[]);
    odd.documents[0].1 = r#"{"tools": 7}"#.to_owned();
    let (prepared, warnings) = prepared(connector(vec![odd]), &on(Vec::new()));
    let [warning @ Warning::Catalogue { .. }] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(warning.to_string().starts_with("the catalogue of odd is left out: invalid type"));
    // Without it the server's tools are what can be found.
    let ways: Vec<&str> = prepared.ways.iter().map(|way| way.tool.as_str()).collect();
    assert_eq!(ways, ["execute_odd_code", "load_odd_skill"]);
    assert_eq!(prepared.tools.len(), 2);
}

#[test]
fn only_exposed_functions_can_be_found_and_none_without_the_tool_that_runs_them() {
    let mut some = chem();
    some.settings = r#"{"expose": ["parse_*", "execute_*"]}"#.to_owned();
    let (all, _) = prepared(connector(vec![some]), &on(Vec::new()));
    let found: Vec<&str> =
        all.tools.iter().map(|one| one.function.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(found, ["parse_molecule"]);
    let mut none = chem();
    none.settings = r#"{"hide": ["execute_*"]}"#.to_owned();
    let (all, _) = prepared(connector(vec![none]), &on(Vec::new()));
    assert!(all.tools.is_empty() && all.skills.len() == 1);
}

fn tools(count: usize, text: impl Fn(usize) -> String) -> Vec<String> {
    let tool = |place| json!({"name": format!("t{place}"), "description": text(place)}).to_string();
    (0..count).map(tool).collect()
}

/// The document for these servers in this room, and the warnings.
fn in_room(servers: Vec<(&str, Vec<String>)>, room: &Room) -> (String, Vec<Warning>) {
    let mut entries = Vec::new();
    let mut sources = Vec::new();
    for (name, tools) in servers {
        entries.extend(tools.into_iter().map(|tool| Entry::tool(tool, name, "t")));
        sources.push(Source {
            name: name.to_owned(),
            up: true,
            reached: true,
            documents: Vec::new(),
            settings: Settings::default(),
            every_tool: false,
        });
    }
    let made = gather::add("hub", &mut entries, &sources, &on(Vec::new()), room);
    (made.document, made.warnings)
}

fn needles(document: &str) -> usize {
    let prepared = wire::read(document).unwrap();
    let seen = vec![true; prepared.tools.len()];
    prepared.tool_words.rank("needle", 1_000, &seen).len()
}

#[test]
fn who_has_too_much_takes_nothing_from_the_others() {
    let room = Room { document: 64 << 10, budgets: [64 << 10, 16 << 10, 8 << 10] };
    let modest = || tools(20, |_| "A needle in the haystack.".to_owned());
    let ordinary = tools(1_000, |_| "An ordinary sentence about ordinary things. ".repeat(4));
    let (document, warnings) = in_room(vec![("greedy", ordinary), ("modest", modest())], &room);
    assert!(document.len() <= room.document && needles(&document) == 20);
    let [warning @ Warning::Unsearchable { left, .. }] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    assert!((500..1_000).contains(left) && warning.upstream() == "greedy", "{left}");
    // Words of one or two letters, each another one, make an index many times as long as they are.
    let short = |place: usize| -> String {
        let words = (0..900).map(|word| format!("{:x}", (place * 900 + word) % 4_096));
        words.collect::<Vec<_>>().join(" ")
    };
    let hostile = tools(100, short);
    let (document, warnings) = in_room(vec![("greedy", hostile), ("modest", modest())], &room);
    assert!(document.len() <= room.document && needles(&document) == 20, "{}", document.len());
    assert!(matches!(warnings.as_slice(), [Warning::Unsearchable { left: 50.., .. }]));
}

#[test]
fn ten_thousand_tools_are_prepared_once_and_searched_quickly() {
    let upstreams: Vec<UpstreamView> = (0..100)
        .map(|server| {
            let mut one = upstream(&format!("server{server}"), &[]);
            one.tools = tools(100, |tool| {
                format!("Reads the record {tool} of the table {server} and returns its fields as text, with the units of the ledger {}.", tool * server)
            });
            one
        })
        .collect();
    let started = Instant::now();
    let served = Served::of(&json!({"unified_tools": true}), upstreams, &[]);
    let shaped = started.elapsed();
    let ask = || {
        served.ask("search_hub_tools", json!({"query": "ledger 81 fields of the table", "top": 10}))
    };
    let first = ask();
    assert_eq!(first["tools"].as_array().unwrap().len(), 10);
    let started = Instant::now();
    assert_eq!(ask(), first);
    let took = started.elapsed();
    // About 150 ms and 4 ms without optimisation, the fake host's own walk through its list included.
    assert!(
        shaped < Duration::from_secs(20) && took < Duration::from_secs(1),
        "{shaped:?} {took:?}"
    );
}

#[test]
fn a_document_says_all_that_was_prepared() {
    let mut away = upstream("away", &["x"]);
    away.tools.push(json!({"name": "y", "description": "With\nlines."}).to_string());
    away.up = false;
    let view = connector(vec![chem(), away, upstream("files", &["read"])]);
    let (prepared, _) = prepared(view, &on(Vec::new()));
    assert_eq!(prepared.tools.len(), 5);
    let text = wire::write(prepared.clone()).unwrap();
    assert_eq!(wire::read(&text), Some(prepared));
    let nothing = crate::unified::prepared::Prepared::default();
    assert_eq!(wire::read(&wire::write(nothing.clone()).unwrap()), Some(nothing));
    // Whatever is cut off, or of somebody else, is no document.
    for text in ["", "{}", "\n\n\n\n\n\n\n\n\n\n"] {
        assert_eq!(wire::read(text), None, "{text:?}");
    }
}
