//! The catalogue that other connectors read, and connectors that stand before connectors.

use serde_json::{Value, json};

use super::{
    Served, UpstreamView, chem, connector, executing, function, gis, on, prepared, published,
    screening, upstream,
};
use crate::unified::catalogue::Catalogue;
use crate::unified::published::uri;
use crate::warning::Warning;

fn limited(mut server: UpstreamView, seconds: u32) -> UpstreamView {
    let mut catalogue: Value = serde_json::from_str(&server.documents[0].1).unwrap();
    catalogue["execution"] = json!({"mode": "sync", "default_timeout": seconds});
    server.documents[0].1 = catalogue.to_string();
    server
}

fn of(upstreams: Vec<UpstreamView>, hidden: &[&str]) -> Served {
    Served::of(&json!({}), upstreams, hidden)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn it_says_what_the_servers_say_and_whose_it_is() {
    let served = of(vec![limited(chem(), 300), limited(gis(), 300), upstream("a", &["x"])], &[]);
    let catalogue = published(&served);
    assert_eq!(catalogue["server_name"], "hub");
    assert_eq!(names(&catalogue["tools"]), ["parse_molecule", "compute_descriptors", "map_points"]);
    let mut wanted = function(
        "map_points",
        "Render points on a map",
        &["gis.points_loaded"],
        &["gis.map_rendered"],
    );
    wanted["server_name"] = "gis".into();
    wanted["via"] = "execute_gis_code".into();
    assert_eq!(catalogue["tools"][2], wanted);
    let mut skill = screening("chem");
    skill["server_name"] = "chem".into();
    skill["via"] = "load_chem_skill".into();
    assert_eq!(catalogue["skills"], json!([skill]));
    let limits = json!({"mode": "sync", "default_timeout": 300});
    assert_eq!(catalogue["execution"], limits);
    assert_eq!(catalogue["executions"]["execute_gis_code"], limits);
    // What does not hold for all is not said of all.
    let different = published(&of(vec![limited(chem(), 300), limited(gis(), 60)], &[]));
    assert_eq!(different.get("execution"), None);
    assert_eq!(different["executions"]["execute_gis_code"]["default_timeout"], 60);
}

#[test]
fn it_shows_what_the_caller_sees_of_servers_that_are_there() {
    let hidden = published(&of(vec![chem(), gis()], &["execute_chem_code"]));
    assert_eq!(names(&hidden["tools"]), ["map_points"]);
    assert_eq!(names(&hidden["skills"]), ["drug-screening"]);
    let mut away = chem();
    away.up = false;
    let without = published(&of(vec![away, gis()], &[]));
    assert_eq!(names(&without["tools"]), ["map_points"]);
    assert!(names(&without["skills"]).is_empty());
}

#[test]
fn names_that_the_operator_gave_are_shown_with_those_of_the_code() {
    let mut lab = chem();
    lab.settings =
        r#"{"of_functions": true, "expose": ["parse_*"], "aliases": {"parse_molecule": "read"}}"#
            .to_owned();
    let served = Served::of(&json!({"unified_tools": true}), vec![lab], &[]);
    let found = served.ask("search_hub_tools", json!({"query": "read"}));
    assert_eq!(names(&found["tools"]), ["read"]);
    assert_eq!(
        found["tools"][0]["to_access"],
        "Call via execute_chem_code, where its name is parse_molecule"
    );
    let catalogue = published(&served);
    assert_eq!(names(&catalogue["tools"]), ["read"]);
    assert_eq!(catalogue["tools"][0]["own_name"], "parse_molecule");
    // The next connector says it as well.
    let mut child = upstream("child", &["execute_chem_code"]);
    child.documents = vec![("catalog".to_owned(), catalogue.to_string())];
    let parent = Served::of(&json!({"unified_tools": true}), vec![child], &[]);
    let found = parent.ask("search_hub_tools", json!({"query": "read"}));
    assert_eq!(
        found["tools"][0]["to_access"],
        "Call via child_execute_chem_code, where its name is parse_molecule"
    );
}

/// What a parent lists of a connector before these servers.
fn stacked(servers: Vec<UpstreamView>, tools: &[&str]) -> UpstreamView {
    let mut child = upstream("child", tools);
    child.server_name = "hub".to_owned();
    child.documents = vec![("catalog".to_owned(), published(&of(servers, &[])).to_string())];
    child
}

#[test]
fn a_connector_before_a_connector_finds_its_functions_skills_and_tools() {
    let tools = [
        "execute_chem_code",
        "chem_check_job",
        "load_chem_skill",
        "execute_gis_code",
        "weather_forecast",
        "search_hub_tools",
        "plan_hub_workflow",
        "load_hub_skill",
    ];
    let child = stacked(vec![chem(), gis()], &tools);
    let parent = Served::of(&json!({"unified_tools": true}), vec![child], &[]);
    let all = parent.ask("search_hub_tools", json!({"query": "", "top": 50}));
    assert_eq!(
        names(&all["tools"]),
        ["parse_molecule", "compute_descriptors", "map_points", "child_weather_forecast"]
    );
    let access: Vec<&str> = all["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["to_access"].as_str().unwrap())
        .collect();
    assert_eq!(
        access,
        [
            "Call via child_execute_chem_code",
            "Call via child_execute_chem_code",
            "Call via child_execute_gis_code",
            "Call the tool child_weather_forecast",
        ]
    );
    let way = parent.ask(
        "plan_hub_workflow",
        json!({"mode": "path", "current_state": "chem.molecule_parsed", "target_state": "chem.descriptors_computed"}),
    );
    assert_eq!(way["path"][0]["tool"], "compute_descriptors");
    parent.host.on_request(|upstream, method, params| {
        assert_eq!((upstream, method), ("child", "tools/call"));
        Ok(format!(r#"{{"content": [], "asked": {params}}}"#))
    });
    let super::Reply::Answer(loaded) =
        parent.reply("load_hub_skill", json!({"skill_name": "drug-screening"}))
    else {
        panic!("refused")
    };
    let loaded: Value = serde_json::from_str(&loaded).unwrap();
    assert_eq!(
        loaded["asked"],
        json!({"name": "load_chem_skill", "arguments": {"skill_name": "drug-screening"}})
    );
    // And so on, one floor up.
    let mut above = upstream("mid", &["child_execute_chem_code", "child_execute_gis_code"]);
    above.documents = vec![("catalog".to_owned(), published(&parent).to_string())];
    let above = Served::of(&json!({"unified_tools": true}), vec![above], &[]);
    let found = above.ask("search_hub_tools", json!({"query": "points"}));
    assert_eq!(found["tools"][0]["to_access"], "Call via mid_child_execute_gis_code");
}

#[test]
fn the_connectors_of_agora_workbench_say_only_the_server() {
    let mut function = function("map_points", "", &[], &["gis.map"]);
    function["server_name"] = "gis".into();
    let mut lost = function.clone();
    lost["server_name"] = "gone".into();
    let mut router = upstream("lab", &["execute_chem_code", "execute_gis_code", "gis_send"]);
    let catalogue = json!({"server_name": "their", "tools": [function, lost]});
    router.documents = vec![("catalog".to_owned(), catalogue.to_string())];
    let served = Served::of(&json!({"unified_tools": true}), vec![router], &[]);
    let all = served.ask("search_hub_tools", json!({"query": "", "top": 50}));
    // A function of a server whose tool is not there cannot be called.
    assert_eq!(names(&all["tools"]), ["map_points"]);
    assert_eq!(all["tools"][0]["to_access"], "Call via lab_execute_gis_code");
}

#[test]
fn what_has_no_proper_name_is_left_out_and_hurts_no_other() {
    let named = |name: &str| {
        let mut made = function("x", "", &[], &[]);
        made["name"] = name.into();
        made
    };
    let long = "n".repeat(257);
    let mut tools: Vec<Value> = ["", "  ", "a\u{202e}b", "a\u{200b}b", "a\nb", &long]
        .iter()
        .map(|name| named(name))
        .collect();
    tools.extend([json!(7), json!({"name": 7}), json!({"name": null}), named("good")]);
    let mut kept = function("kept", "", &["d.a", "d.\u{200b}"], &[]);
    kept["required_parameters"] = Value::Null;
    kept["description"] = Value::Null;
    tools.push(kept);
    let lab = executing("lab", &tools, &[json!({"name": "\u{7}"}), screening("lab")]);
    let (prepared, warnings) = prepared(connector(vec![lab, gis()]), &on(Vec::new()));
    let found: Vec<_> = prepared.tools.iter().filter_map(|one| one.function.as_ref()).collect();
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["good", "kept", "map_points"]);
    assert_eq!(found[1].requires, ["d.a"]);
    assert_eq!(warnings, [Warning::Odd { count: 10, upstream: "lab".to_owned() }]);
}

#[test]
fn a_hundred_thousand_functions_are_bounded() {
    let many: Vec<Value> = (0..100_000).map(|one| json!({"name": format!("f{one}")})).collect();
    let greedy = executing("greedy", &many, &[]);
    let served = Served::of(&json!({"unified_tools": true}), vec![greedy, gis()], &[]);
    let found = served.ask("search_hub_tools", json!({"query": "points"}));
    assert_eq!(names(&found["tools"]), ["map_points"]);
    let catalogue = published(&served);
    assert!(catalogue.to_string().len() < (2 << 20) + 10_000, "{}", catalogue.to_string().len());
    assert!(names(&catalogue["tools"]).contains(&"map_points"));
}

#[test]
fn more_than_there_is_room_for_is_counted_and_no_server_takes_it_all() {
    let large = |server: &str| {
        let functions: Vec<Value> = (0..150)
            .map(|one| function(&format!("{server}_{one}"), &"\"x\" ".repeat(2_000), &[], &[]))
            .collect();
        executing(server, &functions, &[])
    };
    let catalogue = published(&of(vec![large("a"), large("b"), gis()], &[]));
    let (shown, left) = (names(&catalogue["tools"]).len(), catalogue["left_out"].as_u64().unwrap());
    assert_eq!(shown as u64 + left, 301);
    for server in ["a_1", "b_1", "map_points"] {
        assert!(names(&catalogue["tools"]).contains(&server), "{server}");
    }
    // As it stands inside of another JSON text.
    assert!(Value::from(catalogue.to_string()).to_string().len() < (2 << 20) + 10_000);
}

#[test]
fn a_catalogue_is_read_whatever_is_missing() {
    for text in ["{}", r#"{"tools": null, "skills": null, "execution": null, "executions": null}"#]
    {
        assert_eq!(Catalogue::read(text).unwrap(), Catalogue::default());
    }
    assert!(Catalogue::read("7").is_err() && Catalogue::read(r#"{"skills": {}}"#).is_err());
    assert_eq!(uri("hub"), "plugway://hub/catalog");
}
