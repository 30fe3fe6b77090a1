//! The search tool: what it finds, how it says so, what it keeps quiet about.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Served, chem, gis, hub, upstream};

const SEARCH: &str = "search_hub_tools";

fn weather() -> super::UpstreamView {
    let mut weather = upstream("weather", &[]);
    let forecast = json!({
        "name": "getForecast", "title": "Forecast", "description": "Weather of the coming days.",
        "inputSchema": {"type": "object", "required": ["days"], "properties": {
            "city": {"type": ["string", "null"], "description": "Where."},
            "days": {"type": "integer"}, "odd": true, "either": {"anyOf": []},
        }},
    });
    let alerts = json!({"name": "alerts", "title": null, "description": "Storm warnings.", "inputSchema": {}});
    weather.tools = vec![forecast.to_string(), alerts.to_string()];
    weather
}

fn names(found: &Value) -> Vec<&str> {
    found["tools"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

fn plain(upstreams: Vec<super::UpstreamView>, hidden: &[&str]) -> Served {
    Served::of(&json!({"unified_tools": true}), upstreams, hidden)
}

#[test]
fn the_references_hits_come_with_its_scores() {
    let found = hub().ask(SEARCH, json!({"query": "molecule descriptors"}));
    assert_eq!(names(&found), ["compute_descriptors", "parse_molecule"]);
    for (hit, score) in [
        (&found["tools"][0], 1.089_810_281_124_140_4),
        (&found["tools"][1], 0.784_663_402_409_381),
        (&found["skills"][0], 0.287_682_072_451_780_85),
    ] {
        assert!((hit["score"].as_f64().unwrap() - score).abs() < 1e-12, "{hit}");
    }
    let mut first = found["tools"][0].clone();
    first["score"] = Value::Null;
    assert_eq!(
        first,
        json!({
            "name": "compute_descriptors", "server_name": "chem",
            "description": "Compute molecular descriptors such as weight",
            "execution_type": "mcp", "type": "tool", "to_access": "Call via execute_chem_code",
            "available": true, "score": null,
            "state_requires": ["chem.molecule_parsed"], "state_produces": ["chem.descriptors_computed"],
            "parameters": [
                {"name": "x", "required": true, "type": "rdkit.Chem.Mol", "description": "The x."},
                {"name": "deep", "required": false, "type": "builtins.bool"},
            ],
        })
    );
    assert_eq!(
        found["skills"][0]["to_access"],
        "Load with load_hub_skill(skill_name=\"drug-screening\")"
    );
    for (category, tools, skills) in [("tools", 2, 0), ("skills", 0, 1), ("all", 2, 1)] {
        let found =
            hub().ask(SEARCH, json!({"query": "molecule descriptors", "category": category}));
        let count = |key: &str| found[key].as_array().unwrap().len();
        assert_eq!((count("tools"), count("skills")), (tools, skills), "{category}");
    }
}

#[test]
fn tools_of_any_server_are_found_by_the_words_of_their_names() {
    let served = plain(vec![weather(), upstream("files", &["read"])], &[]);
    let found = served.ask(SEARCH, json!({"query": "forecast"}));
    assert_eq!(names(&found), ["weather_getForecast"]);
    let mut hit = found["tools"][0].clone();
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    hit["score"] = Value::Null;
    assert_eq!(
        hit,
        json!({
            "name": "weather_getForecast", "title": "Forecast", "server_name": "weather",
            "description": "Weather of the coming days.", "execution_type": "mcp", "type": "tool",
            "to_access": "Call the tool weather_getForecast", "available": true, "score": null,
            "state_requires": [], "state_produces": [],
            "parameters": [
                {"name": "days", "required": true, "type": "integer"},
                {"name": "city", "required": false, "type": "string | null", "description": "Where."},
                {"name": "odd", "required": false}, {"name": "either", "required": false},
            ],
        })
    );
    for (query, name) in [("STORM", "weather_alerts"), ("getforecast", "weather_getForecast")] {
        assert_eq!(names(&served.ask(SEARCH, json!({"query": query}))), [name]);
    }
    let all = served.ask(SEARCH, json!({"query": "", "top": 999}));
    assert_eq!(names(&all), ["weather_getForecast", "weather_alerts", "files_read"]);
}

#[test]
fn what_is_hidden_is_not_found_and_moves_no_score() {
    let hidden = plain(vec![weather(), upstream("files", &["read"])], &["weather_alerts"]);
    let without = {
        let mut weather = weather();
        weather.tools.pop();
        plain(vec![weather, upstream("files", &["read"])], &[])
    };
    for query in ["weather", "storm", "forecast of the coming days", ""] {
        let ask = |served: &Served| served.ask(SEARCH, json!({"query": query, "top": 50}));
        let found = ask(&hidden);
        assert_eq!(found, ask(&without), "{query}");
        assert!(!names(&found).contains(&"weather_alerts"), "{found}");
    }
}

#[test]
fn tools_of_a_server_that_is_away_are_marked_for_those_who_may_know_of_them() {
    let mut away = weather();
    away.up = false;
    let served = plain(vec![away, upstream("files", &["read"])], &[]);
    let live = json!({"connector": "hub", "servers": [
        {"name": "weather", "listed": false, "tools": ["weather_alerts"]},
        {"name": "files", "listed": true, "tools": ["files_read"]},
    ]});
    let query = json!({"query": "", "top": 9});
    served.host.call("tools/call", SEARCH).attribute("connector", "hub");
    served.host.attribute("connector-status", &live.to_string()).arguments(query.clone());
    let super::Reply::Answer(result) =
        served.host.run(|| super::Answering::answer(&served.router)).unwrap()
    else {
        panic!("refused")
    };
    let result: Value = serde_json::from_str(&result).unwrap();
    let found: Value =
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(names(&found), ["weather_alerts", "files_read"]);
    let hit = &found["tools"][0];
    assert_eq!(
        (&hit["available"], &hit["description"]),
        (&json!(false), &json!("Storm warnings."))
    );
    assert_eq!(
        hit["to_access"],
        "Not available now: the server weather is away. When it is back: Call the tool weather_alerts"
    );
    // Without the status nothing is known of who is away.
    assert_eq!(names(&served.ask(SEARCH, query)), ["files_read"]);
}

#[test]
fn nothing_found_comes_with_a_hint_and_bad_arguments_with_a_sentence() {
    let served = hub();
    assert_eq!(
        served.ask(SEARCH, json!({"query": "zzzz"})),
        json!({
            "tools": [], "skills": [],
            "hint": "No tools or skills matched 'zzzz'. Broaden or rephrase the query, or pass an empty string \
                     with top=999 to list the full catalog.",
        })
    );
    assert_eq!(
        served.ask(SEARCH, json!({"query": "map", "top": 0})),
        json!({"tools": [], "skills": []})
    );
    assert_eq!(
        served.ask(SEARCH, json!({"query": "map", "category": "bad"})),
        json!({"error": "Invalid category 'bad'. Must be 'all', 'tools', or 'skills'."})
    );
    for (arguments, sentence) in [
        (json!({"query": "x", "top": -1}), "`top` must not be below 0."),
        (json!({"query": "x".repeat(10_001)}), "`query` is longer than 10000 bytes."),
        (json!({}), "The arguments are not valid: missing field `query`."),
    ] {
        assert_eq!(served.refusal(SEARCH, arguments), sentence);
    }
    assert!(
        served.refusal(SEARCH, json!({"query": "x", "tops": 1})).contains("unknown field `tops`")
    );
}

#[test]
fn results_have_a_bound() {
    let mut many = upstream("many", &[]);
    many.tools = (0..600)
        .map(|place| {
            let properties: Value = (0..60)
                .map(|one| (format!("p{one}"), json!({"type": "string"})))
                .collect::<serde_json::Map<_, _>>()
                .into();
            json!({
                "name": format!("t{place}"), "description": "Long. ".repeat(400),
                "inputSchema": {"properties": properties},
            })
            .to_string()
        })
        .collect();
    let found = plain(vec![many], &[]).ask(SEARCH, json!({"query": "long", "top": 1000}));
    let shown = found["tools"].as_array().unwrap().len();
    assert!(found.to_string().len() <= (1 << 20) + 1_000);
    assert!(shown > 100 && found["left_out"] == 600 - shown, "{shown} {}", found["left_out"]);
}

#[test]
fn a_new_shape_is_read_anew() {
    let served = plain(vec![chem()], &[]);
    assert!(names(&served.ask(SEARCH, json!({"query": "points"}))).is_empty());
    let fresh = plain(vec![chem(), gis()], &[]);
    let router = served.router;
    let both = Served { router, host: fresh.host };
    // Another generation, the same instance.
    both.host.document(
        &both
            .host
            .run(|| super::Router::shape(&both.router, super::connector(vec![chem(), gis()])))
            .unwrap()
            .document,
    );
    assert_eq!(names(&both.ask(SEARCH, json!({"query": "points"}))), ["map_points"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// However much of whatever kind is hidden, and wherever the server stands that is away.
    #[test]
    fn exactly_what_the_list_has_is_found(
        hidden in prop::collection::vec(any::<bool>(), 40),
        prompts in 0_usize..4,
        rare in any::<bool>(),
    ) {
        let own: Vec<String> = (0..12).map(|one| format!("t{one}")).collect();
        let tools: Vec<&str> = own.iter().map(String::as_str).collect();
        let mut servers: Vec<super::UpstreamView> =
            ["a", "b", "c"].iter().map(|name| upstream(name, &tools)).collect();
        servers[0].prompts = tools[..prompts].iter().map(|name| json!({"name": name}).to_string()).collect();
        servers[1].up = false;
        let of = |server: &'static str| own.iter().map(move |name| format!("{server}_{name}"));
        let all: Vec<String> = of("a").chain(of("c")).collect();
        let pick = |place: usize| hidden[place] && !(rare && hidden[(place + 1) % 40]);
        let out: Vec<&str> =
            all.iter().enumerate().filter(|(place, _)| pick(*place)).map(|(_, name)| name.as_str()).collect();
        let out: Vec<&str> = out.into_iter().chain(hidden[30].then_some("hub_status")).collect();
        let found = plain(servers, &out).ask(SEARCH, json!({"query": "", "top": 100}));
        let wanted: Vec<&str> = all.iter().map(String::as_str).filter(|name| !out.contains(name)).collect();
        prop_assert_eq!(names(&found), wanted);
    }
}
