//! Servers that want everything for themselves, or more than there is, and texts that hide what they say.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    Served, UpstreamView, chem, connector, executing, function, gis, on, prepared, published,
    screening, upstream,
};
use crate::unified::catalogue::Catalogue;
use crate::warning::Warning;

const SEARCH: &str = "search_hub_tools";
const PLAN: &str = "plan_hub_workflow";

fn serve(upstreams: Vec<UpstreamView>, hidden: &[&str]) -> Served {
    Served::of(&json!({"unified_tools": true}), upstreams, hidden)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn what_is_long_is_left_out_before_it_is_read() {
    let mut long = function("long", "", &[], &[]);
    long["x"] = vec![json!({"a": 0}); 20_000].into();
    let lab = executing("lab", &[long, function("short", "", &[], &[])], &[]);
    let (found, warnings) = prepared(connector(vec![lab]), &on(Vec::new()));
    assert_eq!(found.tools.len(), 1);
    assert_eq!(warnings, [Warning::Odd { count: 1, upstream: "lab".to_owned() }]);
    // A list of a function is read as far as it is kept.
    let text = json!({"tools": [{"name": "f", "required_parameters": vec![json!({}); 20_000]}]});
    let text = text.to_string();
    assert_eq!(Catalogue::read(&text).unwrap().functions.len(), 1);
    assert_eq!(Catalogue::read(&text).unwrap().functions[0].0.required_parameters.len(), 32);
}

#[test]
fn limits_of_many_tools_have_one_room() {
    let tools: Vec<String> = (0..3_000).map(|one| format!("e{one}_execute_y_code")).collect();
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let mut greedy = upstream("greedy", &tools);
    let functions: Vec<Value> = tools
        .iter()
        .enumerate()
        .map(|(place, tool)| json!({"name": format!("f{place}"), "via": tool}))
        .collect();
    let execution = json!({"numbers": vec![7; 10_000]});
    let catalogue = json!({"tools": functions, "execution": execution});
    greedy.documents = vec![("catalog".to_owned(), catalogue.to_string())];
    let shown = published(&serve(vec![greedy, chem()], &[]));
    let limits = shown["executions"].as_object().unwrap();
    assert!((10..20).contains(&limits.len()), "{}", limits.len());
    assert_eq!(limits["execute_chem_code"], json!({}));
    // Limits that are longer than anything may be are none.
    let mut lab = chem();
    let catalogue =
        json!({"tools": [function("f", "", &[], &[])], "execution": {"x": vec![0; 40_000]}});
    lab.documents[0].1 = catalogue.to_string();
    assert_eq!(published(&serve(vec![lab], &[])).get("executions"), None);
}

#[test]
fn text_that_hides_what_it_says_is_left_out() {
    let mut parse = function("parse", "Parses.\u{202e}", &[], &[]);
    let mut deep = function("deep", "", &[], &[]);
    deep["required_parameters"][0]["description"] = "\u{e0041}\u{e0042}".into();
    let mut skill = screening("lab");
    skill["notes"] = "\u{1b}[2J".into();
    let lab = executing("lab", &[parse.clone(), deep, function("good", "", &[], &[])], &[skill]);
    let served = serve(vec![lab.clone()], &[]);
    let shown = published(&served);
    assert_eq!((names(&shown["tools"]), names(&shown["skills"])), (vec!["good"], vec![]));
    let (_, warnings) = prepared(connector(vec![lab]), &on(Vec::new()));
    assert_eq!(warnings, [Warning::Odd { count: 3, upstream: "lab".to_owned() }]);
    parse["description"] = "Parses.".into();
    let text = json!({"tools": [parse], "execution": {"x": "\u{1b}"}}).to_string();
    let read = Catalogue::read(&text).unwrap();
    assert_eq!((read.functions.len(), read.execution), (1, None));
}

#[test]
fn what_is_hidden_stays_hidden_when_the_list_is_newer_than_what_was_prepared() {
    let served = serve(vec![chem(), gis()], &["execute_chem_code"]);
    // As many entries as there were when all of it was prepared.
    served.host.entry("prompt", "other", &json!({"name": "other"}));
    let found = served.ask(SEARCH, json!({"query": "", "top": 50}));
    assert_eq!(names(&found["tools"]), ["map_points"]);
}

#[test]
fn what_was_left_out_is_counted_for_those_who_see_the_others_of_its_kind() {
    let functions: Vec<Value> = (0..150)
        .map(|one| function(&format!("f{one}"), &"\"x\" ".repeat(4_000), &[], &[]))
        .collect();
    let servers = || vec![executing("lab", &functions, &[]), gis()];
    assert!(published(&serve(servers(), &[]))["left_out"].as_u64() > Some(10));
    let shown = published(&serve(servers(), &["execute_lab_code"]));
    assert_eq!((names(&shown["tools"]), shown.get("left_out")), (vec!["map_points"], None));
}

#[test]
fn a_plan_of_very_many_domains_is_made_quickly_and_shows_other_servers() {
    let states = |place: usize| -> Vec<String> {
        (0..32).map(|one| format!("d{place}x{one}.state")).collect()
    };
    let functions: Vec<Value> = (0..1_900)
        .map(|place| {
            let mut made = json!({"name": format!("f{place}")});
            made["state_transition"] = json!({"requires": [], "produces": states(place)});
            made
        })
        .collect();
    let served = serve(vec![executing("a", &functions, &[]), gis()], &[]);
    served.ask(PLAN, json!({"mode": "tool", "tool_name": "none"}));
    let started = Instant::now();
    let found = served.ask(PLAN, json!({}));
    let took = started.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(found["left_out"].as_u64() > Some(1_000), "{}", found["left_out"]);
    assert!(found.to_string().len() < (1 << 20) + 100_000, "{}", found.to_string().len());
    let domains = found["domains"].as_array().unwrap();
    let gis = domains.iter().find(|one| one["domain"] == "gis").unwrap();
    assert_eq!(gis["edges"].as_array().unwrap().len(), 1);
    // Every step times every state is told as far as there is room, and the rest is counted.
    let many: Vec<String> = (0..32).map(|one| format!("a.{one}{}", "x".repeat(200))).collect();
    let functions: Vec<Value> = (0..30)
        .map(|place| {
            let mut made = json!({"name": format!("f{place}")});
            made["state_transition"] = json!({"requires": many, "produces": many});
            made
        })
        .collect();
    let found =
        serve(vec![executing("a", &functions, &[]), super::gis()], &[]).ask(PLAN, json!({}));
    let edges = |one: usize| found["domains"][one]["edges"].as_array().unwrap().len() as u64;
    assert_eq!(edges(0) + found["left_out"].as_u64().unwrap(), 30 * 32 * 32);
    assert!(edges(0) > 1_000 && edges(1) == 1, "{}", edges(0));
}

#[test]
fn long_definitions_of_one_server_take_nothing_from_another() {
    let mut greedy = upstream("greedy", &[]);
    greedy.tools = (0..50)
        .map(|place| {
            let name = format!("needle{place}");
            json!({"name": name, "description": "A needle.", "inputSchema": {"x": "y".repeat(300_000)}})
                .to_string()
        })
        .collect();
    let mut modest = upstream("modest", &[]);
    let schema = json!({"properties": {"size": {"type": "integer"}}});
    let tool = json!({"name": "find", "description": "Finds a needle in a large haystack.", "inputSchema": schema});
    modest.tools = vec![tool.to_string()];
    let found = serve(vec![greedy, modest], &[]).ask(SEARCH, json!({"query": "needle", "top": 60}));
    let tools = found["tools"].as_array().unwrap();
    assert_eq!((tools.len(), found.get("left_out")), (51, None));
    let modest = tools.iter().find(|one| one["name"] == "modest_find").unwrap();
    assert_eq!(modest["parameters"][0]["name"], "size");
    let greedy = tools.iter().find(|one| one["name"] == "greedy_needle0").unwrap();
    assert!(greedy.get("parameters").is_none(), "{greedy}");
}

#[test]
fn long_results_of_one_server_take_nothing_from_another() {
    let description = "needle ".repeat(140);
    let states: Vec<String> = (0..32).map(|one| format!("a.{one}{}", "s".repeat(200))).collect();
    let states: Vec<&str> = states.iter().map(String::as_str).collect();
    let functions: Vec<Value> =
        (0..200).map(|one| function(&format!("f{one}"), &description, &states, &[])).collect();
    let tool = json!({"name": "find", "description": "Finds a needle in a very large haystack."});
    let mut modest = upstream("modest", &[]);
    modest.tools = vec![tool.to_string()];
    let served = serve(vec![executing("greedy", &functions, &[]), modest], &[]);
    let found = served.ask(SEARCH, json!({"query": "needle", "top": 1_000}));
    assert!(found["left_out"].as_u64() > Some(10), "{}", found["left_out"]);
    assert!(names(&found["tools"]).contains(&"modest_find"));
    assert!(found.to_string().len() < (1 << 20) + 10_000);
}

#[test]
fn a_function_that_is_given_the_name_of_another_is_named_in_the_log() {
    let mut lab = chem();
    lab.settings =
        r#"{"of_functions": true, "aliases": {"parse_molecule": "compute_descriptors"}}"#
            .to_owned();
    let (_, warnings) = prepared(connector(vec![lab]), &on(Vec::new()));
    assert_eq!(
        warnings,
        [Warning::Alias {
            own: "parse_molecule".to_owned(),
            name: "compute_descriptors".to_owned(),
            upstream: "chem".to_owned(),
        }]
    );
}

#[test]
fn what_a_client_sent_is_said_again_in_short() {
    let served = serve(vec![chem()], &[]);
    let long = "x".repeat(100_000);
    for (tool, arguments) in [
        (SEARCH, json!({"query": "x", "category": long})),
        (PLAN, json!({"mode": long})),
        (PLAN, json!({"domain": long})),
        (PLAN, json!({"mode": "tool", "tool_name": long})),
        (PLAN, json!({"mode": "next_steps", "current_state": long})),
        (PLAN, json!({"mode": "path", "current_state": long, "target_state": long})),
        ("load_hub_skill", json!({"skill_name": long})),
        ("load_hub_skill", json!({"skill_name": "x", "upstream": long})),
    ] {
        let said = served.ask(tool, arguments).to_string();
        assert!(said.len() < 4_096, "{tool}: {}", said.len());
    }
    assert!(served.refusal(SEARCH, json!({"query": "x", long: 1})).len() < 1_024);
}
