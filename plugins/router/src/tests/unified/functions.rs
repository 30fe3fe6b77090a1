//! Functions as entries that policies judge: who is not to see one does not hear of it, and a plan never goes through it.

use plugway_sdk::prelude::*;
use serde_json::{Value, json};

use super::{Served, chem, connector, executing, function, gis, published, upstream};
use crate::config::Options;
use crate::shape::shape;
use crate::tests::known_as;
use crate::warning::Warning;

fn served(hidden: &[&str]) -> Served {
    let bridges = json!([{
        "from_state": "chem.descriptors_computed", "to_state": "gis.points_loaded", "description": "Pass on",
    }]);
    let config = json!({"unified_tools": true, "bridges": bridges});
    Served::of(&config, vec![chem(), gis()], hidden)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

fn entries(upstreams: Vec<UpstreamView>) -> (Vec<Entry>, Vec<Warning>) {
    let (shaped, warnings) = shape(connector(upstreams), &Options::default()).unwrap();
    let functions = shaped.entries.into_iter().filter(|entry| entry.kind == "function");
    (functions.collect(), warnings)
}

#[test]
fn each_function_is_an_entry_of_its_server_under_both_of_its_names() {
    let mut lab = chem();
    lab.settings =
        r#"{"of_functions": true, "expose": ["parse_*"], "aliases": {"parse_molecule": "read"}}"#
            .to_owned();
    let twice = function("map_points", "Another one", &[], &[]);
    let same = executing("other", &[twice.clone(), twice], &[]);
    let mut away = gis();
    away.up = false;
    let (entries, warnings) = entries(vec![lab, away, same, upstream("plain", &["map_points"])]);
    let known: Vec<String> = entries.iter().map(known_as).collect();
    // What the operator does not expose can be called all the same, so policies judge it.
    let wanted = [
        "chem.read\tparse_molecule",
        "chem.compute_descriptors",
        "gis.map_points",
        "other.map_points",
    ];
    assert_eq!(known, wanted);
    assert_eq!(
        entries[3].definition, r#"{"name":"map_points","description":"Another one"}"#,
        "of two that are the same the first counts"
    );
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_hidden_function_is_not_found_planned_with_or_published() {
    let (all, hidden) = (served(&[]), served(&["chem.compute_descriptors"]));
    let search = |served: &Served, query: &str| {
        let found = served.ask("search_hub_tools", json!({"query": query, "top": 50}));
        names(&found["tools"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let left = ["parse_molecule", "map_points"];
    assert_eq!(search(&all, ""), ["parse_molecule", "compute_descriptors", "map_points"]);
    assert_eq!(search(&hidden, ""), left);
    assert_eq!(search(&hidden, "molecular descriptors weight"), [] as [&str; 0]);
    assert_eq!(names(&published(&hidden)["tools"]), left);
    assert_eq!(published(&hidden).get("left_out"), None);
    assert_eq!(names(&published(&hidden)["skills"]), names(&published(&all)["skills"]));

    let plan = |served: &Served, arguments: Value| served.ask("plan_hub_workflow", arguments);
    let path = json!({
        "mode": "path", "current_state": "chem.molecule_parsed", "target_state": "gis.map_rendered",
    });
    assert_eq!(plan(&all, path.clone())["path"].as_array().unwrap().len(), 3);
    assert!(plan(&hidden, path)["path"].is_null(), "it would go through what is hidden");
    for mode in [
        json!({}),
        json!({"mode": "next_steps", "current_state": "chem.molecule_parsed"}),
        json!({"mode": "tool", "tool_name": "compute_descriptors"}),
    ] {
        let said = |served: &Served| plan(served, mode.clone()).to_string();
        assert!(said(&all).contains("chem.descriptors_computed"), "{}", said(&all));
        // What was asked about is said again.
        let said = said(&hidden).replace("'compute_descriptors'", "");
        assert!(!said.contains("compute_d") && !said.contains("descriptors_c"), "{said}");
    }
}

#[test]
fn equal_names_of_two_servers_are_judged_apart() {
    let other = executing("other", &[function("map_points", "Maps otherwise", &[], &[])], &[]);
    for (hidden, left) in [("other.map_points", "gis"), ("gis.map_points", "other")] {
        let config = json!({"unified_tools": true});
        let served = Served::of(&config, vec![gis(), other.clone()], &[hidden]);
        let found = served.ask("search_hub_tools", json!({"query": "map_points"}));
        assert_eq!(names(&found["tools"]), ["map_points"]);
        assert_eq!(found["tools"][0]["server_name"], left);
    }
}

#[test]
fn a_server_that_is_away_is_known_by_the_functions_that_are_not_hidden() {
    let mut away = chem();
    away.up = false;
    let config = json!({"unified_tools": true});
    let served = Served::of(&config, vec![away, gis()], &["chem.parse_molecule"]);
    served.host.call("tools/call", "search_hub_tools").attribute("connector", "hub");
    let live = json!({"servers": [{"name": "chem", "tools": ["execute_chem_code"]}]});
    served.host.attribute("connector-status", &live.to_string());
    served.host.arguments(json!({"query": "", "top": 9}));
    let reply = served.host.run(|| served.router.answer()).unwrap();
    let Reply::Answer(result) = reply else { panic!("refused: {reply:?}") };
    assert!(result.contains("compute_descriptors") && result.contains("the server chem is away"));
    assert!(!result.contains("parse_molecule"), "{result}");
}

#[test]
fn what_tools_say_of_functions_is_neither_searched_nor_kept() {
    let mut lab = chem();
    let said = "Runs code.\nAvailable tool functions:\n  - parse_molecule: Parses quickly\n";
    lab.tools[0] = json!({"name": "execute_chem_code", "description": said}).to_string();
    lab.up = false;
    let attributes = vec![("discovery".to_owned(), "lazy".to_owned())];
    let view = ConnectorView { attributes, ..connector(vec![lab]) };
    let (shaped, _) = shape(view, &Options::default()).unwrap();
    let prepared = crate::unified::wire::read(&shaped.document).unwrap();
    let kept: Vec<&str> =
        prepared.tools.iter().filter_map(|tool| tool.description.as_deref()).collect();
    assert_eq!(kept[0], "Runs code.\nAvailable tool functions:");
    let run = prepared.tools.iter().position(|tool| tool.function.is_none()).unwrap();
    let found = |query: &str| {
        let hits = prepared.tool_words.rank(query, 9, &vec![true; prepared.tools.len()]);
        hits.iter().any(|hit| hit.0 as usize == run)
    };
    assert!(found("available functions") && !found("quickly"));
}

#[test]
fn servers_share_the_room_for_functions_and_who_loses_some_is_named() {
    let many = |name: &str, count: usize| {
        let tools: Vec<Value> = (0..count).map(|n| json!({"name": format!("f{n}")})).collect();
        executing(name, &tools, &[])
    };
    let (entries, warnings) = entries(vec![many("a", 9_000), many("b", 9_000), many("c", 4_000)]);
    assert_eq!(entries.len(), 20_000);
    let of = |name: &str| {
        let from = |entry: &&Entry| entry.target.upstream().is_some_and(|(from, _)| from == name);
        entries.iter().filter(from).count()
    };
    assert_eq!((of("a"), of("b"), of("c")), (8_000, 8_000, 4_000));
    let left = |name: &str| Warning::Functions { left: 1_000, upstream: name.to_owned() };
    assert!(warnings.contains(&left("a")) && warnings.contains(&left("b")), "{warnings:?}");
}
