//! What is to be seen, for lists of operators and of requests.

mod laws;

use std::collections::BTreeMap;

use plugway_sdk::prelude::*;
use plugway_sdk::testing::Host;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::asked::{self, Refused};
use crate::component::ByLists;
use crate::config::Options;
use crate::judge::{Details, Judge, Thing};
use crate::lists::Set;

/// Kind, name, tags, and the name of a resource; `own` is what the connector answers itself.
type Row = (&'static str, &'static str, &'static [&'static str], Option<&'static str>, bool);

const THINGS: [Row; 12] = [
    ("tool", "clock_now", &["time"], None, false),
    ("tool", "clock_add", &["math"], None, false),
    ("tool", "notes_list", &[], None, false),
    ("tool", "hub_status", &[], None, true),
    ("tool", "find_tools", &[], None, true),
    ("function", "parse_molecule", &["chem"], None, false),
    ("prompt", "clock_ask", &["time"], None, false),
    ("prompt", "clock_now", &[], None, false),
    ("resource", "clock://zones", &["time"], Some("zones"), false),
    ("resource", "plugway://hub/catalog", &[], Some("catalog"), true),
    ("resource", "plugway://hub/status", &[], Some("hub status"), true),
    ("template", "clock://zone/{zone}", &[], Some("zone"), false),
];

struct Known(Option<&'static str>, bool, &'static str);

impl Details for Known {
    fn name(&self) -> Option<String> {
        self.0.map(str::to_owned)
    }

    fn origin(&self) -> String {
        self.2.to_owned()
    }

    fn is_local(&self) -> bool {
        self.1
    }
}

/// The places in [`THINGS`] of what is shown.
fn shown(rules: &[Set], asked: &[Set]) -> Vec<usize> {
    let judge = Judge { rules, asked };
    let is_shown = |(kind, name, tags, own, local): &Row| {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let thing = Thing { kind, name, tags: &tags, serverless: *local };
        judge.shows(&thing, &Known(*own, *local, name))
    };
    (0..).zip(&THINGS).filter(|(_, thing)| is_shown(thing)).map(|(place, _)| place).collect()
}

fn rules(config: Value) -> Vec<Set> {
    let options: Options = serde_json::from_value(config).unwrap();
    options.checked().unwrap().sets
}

/// Values of one name add up as in a host.
fn read(query: &[(&str, &str)], headers: &[(&str, &str)]) -> Result<Vec<Set>, Refused> {
    let all = |pairs: &[(&str, &str)], wanted: &str| {
        let own = pairs.iter().filter(|(name, _)| *name == wanted);
        let own: Vec<&str> = own.map(|(_, value)| *value).collect();
        (!own.is_empty()).then(|| own.join(","))
    };
    asked::read(|name| all(query, name), |name| all(headers, name))
}

#[test]
fn an_operators_lists_say_what_is_shown() {
    let all: Vec<usize> = (0..THINGS.len()).collect();
    for (config, expected) in [
        (json!({}), all.clone()),
        (json!({"tools": {"enabled": ["*"]}}), all.clone()),
        // Prompts and resources have lists of their own; what the connector answers stays.
        (json!({"tools": {"enabled": ["clock_now"]}}), vec![0, 3, 4, 6, 7, 8, 9, 10, 11]),
        (json!({"tools": {"enabled": ["parse_*"]}}), vec![3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (json!({"tools": {"disabled": ["*"]}}), vec![6, 7, 8, 9, 10, 11]),
        (
            json!({"tools": {"disabled": ["hub_status"]}}),
            all.iter().copied().filter(|one| *one != 3).collect(),
        ),
        (
            json!({"prompts": {"disabled": ["clock_now"]}}),
            all.iter().copied().filter(|one| *one != 7).collect(),
        ),
        (json!({"resources": {"enabled": ["zones"]}}), vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (
            json!({"resources": {"enabled": ["clock://zone/*"]}}),
            vec![0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11],
        ),
        (
            json!({"resources": {"disabled": ["clock://*", "hub status"]}}),
            vec![0, 1, 2, 3, 4, 5, 6, 7, 9],
        ),
        (json!({"tags": {"enabled": ["time"]}}), vec![0, 3, 4, 6, 8, 9, 10]),
        (json!({"tags": {"disabled": ["t*"]}}), vec![1, 2, 3, 4, 5, 7, 9, 10, 11]),
        (
            json!({"tools": {"enabled": ["clock_*"]}, "also": [{"tools": {"enabled": ["*_now"]}}]}),
            vec![0, 3, 4, 6, 7, 8, 9, 10, 11],
        ),
    ] {
        assert_eq!(shown(&rules(config.clone()), &[]), expected, "{config}");
    }
}

#[test]
fn a_resource_is_known_by_the_template_that_it_is_read_through() {
    let thing = Thing { kind: "resource", name: "clock://zone/a", tags: &[], serverless: false };
    let known = Known(None, false, "clock://zone/{zone}");
    let shows = |lists: Value| {
        let rules = rules(json!({"resources": lists}));
        Judge { rules: &rules, asked: &[] }.shows(&thing, &known)
    };
    assert!(shows(json!({"enabled": ["clock://zone/{zone}"]})));
    assert!(shows(json!({"enabled": ["clock://zone/*"]})));
    assert!(!shows(json!({"enabled": ["clock://zones"]})));
    assert!(!shows(json!({"disabled": ["clock://zone/{zone}"]})));
    assert!(!shows(json!({"disabled": ["clock://zone/a"]})));
}

#[test]
fn a_request_gets_what_it_names() {
    let all: Vec<usize> = (0..THINGS.len()).collect();
    let without = |gone: &[usize]| -> Vec<usize> {
        all.iter().copied().filter(|one| !gone.contains(one)).collect()
    };
    for (query, headers, expected) in [
        (&[][..], &[][..], all.clone()),
        (&[("tools", "clock_now")], &[], without(&[1, 2, 3, 4, 5])),
        (&[("toolsets", "clock_now")], &[], without(&[1, 2, 3, 4, 5])),
        (&[("tools", "clock_now"), ("toolsets", "notes_*")], &[], without(&[1, 3, 4, 5])),
        (&[("tools", "clock_now"), ("tools", "hub_status, ,find_tools")], &[], without(&[1, 2, 5])),
        (&[("tools", ""), ("tools", " , ")], &[], all.clone()),
        (&[("disabled_tools", "clock_*")], &[], without(&[0, 1])),
        (&[("disabled_toolsets", "hub_status")], &[], without(&[3])),
        (&[("prompts", "clock_ask")], &[], without(&[7])),
        (&[("disabled_prompts", "clock_ask")], &[], without(&[6])),
        (&[("resources", "zones")], &[], without(&[10, 11])),
        (&[("disabled_resources", "plugway://hub/*")], &[], without(&[9, 10])),
        (&[("tags", "time")], &[], vec![0, 6, 8, 9]),
        (&[("disabled_tags", "time,chem")], &[], without(&[0, 5, 6, 8])),
        (&[("unknown", "?!")], &[("x-mcp-other", "?!")], all.clone()),
        (&[], &[("x-mcp-enabled-tools", "clock_now")], without(&[1, 2, 3, 4, 5])),
        (&[], &[("x-mcp-disabled-tools", "clock_now")], without(&[0])),
        (&[], &[("x-mcp-enabled-prompts", "x")], without(&[6, 7])),
        (&[], &[("x-mcp-disabled-prompts", "*")], without(&[6, 7])),
        (&[], &[("x-mcp-enabled-resources", "zone")], without(&[8, 10])),
        (&[], &[("x-mcp-disabled-resources", "zone")], without(&[11])),
        (&[], &[("x-mcp-enabled-components", "clock_now")], vec![0, 7, 9]),
        (&[], &[("x-mcp-disabled-components", "clock_now,zones")], without(&[0, 7, 8])),
        (&[], &[("x-mcp-enabled-tags", "time")], vec![0, 6, 8, 9]),
        (&[], &[("x-mcp-disabled-tags", "time")], without(&[0, 6, 8])),
        // The query holds, and the headers besides.
        (&[("tools", "clock_*")], &[("x-mcp-enabled-tools", "*_now")], without(&[1, 2, 3, 4, 5])),
        (
            &[("tools", "clock_now")],
            &[("x-mcp-enabled-tools", "clock_add")],
            without(&[0, 1, 2, 3, 4, 5]),
        ),
        (&[("tags", "time")], &[("x-mcp-enabled-tags", "math")], vec![9]),
        (&[("q", " ")], &[("x-mcp-query", "")], all.clone()),
    ] {
        let asked = read(query, headers).unwrap();
        assert_eq!(shown(&[], &asked), expected, "{query:?} {headers:?}");
    }
}

#[test]
fn what_is_no_list_of_names_shows_nothing_and_says_so() {
    let long = "a".repeat(129);
    let many = vec!["a"; 257].join(",");
    let large = format!("a{}", " ".repeat(16 * 1024));
    for value in
        ["a b", "a,b?", "é", "all", "a,all", "{x}", "a\u{fffd}", "a;b", "'a'", &long, &many, &large]
    {
        let refused = read(&[("tools", value)], &[]).unwrap_err();
        assert_eq!(refused, Refused::Malformed("tools"), "{value}");
        let refused = read(&[], &[("x-mcp-enabled-components", value)]).unwrap_err();
        assert_eq!(refused, Refused::Malformed("x-mcp-enabled-components"), "{value}");
    }
    let longest = "a".repeat(128);
    let most = vec!["a"; 256].join(",");
    for value in ["a_B.9:/-*", "*", &longest, &most] {
        assert_eq!(read(&[("disabled_tags", value)], &[]).unwrap().len(), 1, "{value}");
    }
    for name in ["q", "query", "search"] {
        assert_eq!(read(&[(name, "x")], &[]), Err(Refused::Search(name)));
    }
    for name in ["x-mcp-query", "x-mcp-search"] {
        assert_eq!(read(&[], &[(name, "x")]), Err(Refused::Search(name)));
    }
    for refused in
        [Refused::Malformed("x-mcp-disabled-components"), Refused::Search("x-mcp-search")]
    {
        let sentence = refused.to_string();
        assert!(sentence.len() < 512 && sentence.ends_with('.'), "{sentence}");
    }
}

#[test]
fn configurations_that_mean_nothing_are_refused_where_they_are_wrong() {
    for (config, path) in [
        (json!({"tools": {"enabled": []}}), "tools.enabled"),
        (json!({"prompts": {"disabled": ["a", ""]}}), "prompts.disabled[1]"),
        (json!({"also": [{}, {"tags": {"enabled": ["a\n"]}}]}), "also[1].tags.enabled[0]"),
        (json!({"also": vec![json!({}); 17]}), "also"),
        (json!({"resources": {"disabled": vec!["a"; 1_001]}}), "resources.disabled"),
    ] {
        let options: Options = serde_json::from_value(config.clone()).unwrap();
        assert_eq!(options.checked().unwrap_err().path(), path, "{config}");
    }
    for config in [
        json!({"tool": {}}),
        json!({"tools": {"enable": []}}),
        json!({"also": [{"client_filters": true}]}),
    ] {
        assert!(serde_json::from_value::<Options>(config).is_err());
    }
    let schema: Value = serde_json::from_str(crate::config::SCHEMA).unwrap();
    assert!(schema["properties"]["client_filters"].is_object());
}

fn page() -> Page {
    Page {
        names: vec!["clock_now".into(), "hub_status".into(), "clock://zones".into()],
        kind_of: vec![0, 0, 1],
        upstream_of: vec![0, 1, 0],
        tags_of: vec![0, 1, 1],
        hints_of: vec![0, 0, 0],
        kinds: vec!["tool".into(), "resource".into()],
        upstreams: vec!["clock".into(), String::new()],
        tag_sets: vec![vec!["time".into()], vec![]],
        hint_sets: vec![vec![]],
    }
}

fn plugin(config: &str) -> ByLists {
    ByLists::configure(plugway_sdk::config::parse(config).unwrap()).unwrap()
}

#[test]
fn the_plugin_asks_the_host_for_what_it_needs() {
    let host = Host::new();
    host.detail(1, "target", "local").detail(2, "name", "zones");
    let named = plugin(r#"{"tools": {"enabled": ["other"]}, "resources": {"enabled": ["zones"]}}"#);
    let view = host.run(|| named.visible(page())).unwrap();
    assert_eq!(view.sights, [Sight::Hidden, Sight::Shown, Sight::Shown]);
    assert_eq!(view.notice, None);
    host.query("disabled_tags", "time").header("X-Mcp-Enabled-Resources", "other");
    let view = host.run(|| plugin("").visible(page())).unwrap();
    assert_eq!(view.sights, [Sight::Hidden, Sight::Shown, Sight::Hidden]);
    let deaf = plugin(r#"{"client_filters": false}"#);
    assert_eq!(host.run(|| deaf.visible(page())).unwrap().sights, [Sight::Shown; 3]);
}

#[test]
fn a_filter_that_cannot_be_read_is_said_to_the_client_and_once_to_the_operator() {
    let host = Host::new();
    host.query("tools", "a b");
    let plugin = plugin("");
    for _ in 0..3 {
        let view = host.run(|| plugin.visible(page())).unwrap();
        assert_eq!(view.sights, [Sight::Hidden; 3]);
        assert!(view.notice.unwrap().starts_with("Nothing is shown here: the filter `tools`"));
        let item = &page();
        let item = item.items().unwrap();
        assert_eq!(host.run(|| plugin.sight(&item[0])).unwrap(), Sight::Hidden);
    }
    assert_eq!(host.logs().len(), 1, "{:?}", host.logs());
    assert!(!host.logs()[0].message.contains("a b"), "the client's text is not logged");
    host.advance(60_001);
    host.run(|| plugin.visible(page())).unwrap();
    assert_eq!(host.logs().len(), 2);
}

/// Names and globs that meet those of [`THINGS`] often.
fn glob() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "*",
        "clock_*",
        "clock_now",
        "*_now",
        "hub_status",
        "find_tools",
        "time",
        "math",
        "chem",
        "t*",
        "zones",
        "clock://*",
        "parse_molecule",
        "nothing",
        "plugway://*",
    ])
    .prop_map(str::to_owned)
}

const PARAMETERS: [&str; 10] = [
    "tools",
    "toolsets",
    "disabled_tools",
    "disabled_toolsets",
    "prompts",
    "disabled_prompts",
    "resources",
    "disabled_resources",
    "tags",
    "disabled_tags",
];
const HEADERS: [&str; 10] = [
    "x-mcp-enabled-tools",
    "x-mcp-disabled-tools",
    "x-mcp-enabled-prompts",
    "x-mcp-disabled-prompts",
    "x-mcp-enabled-resources",
    "x-mcp-disabled-resources",
    "x-mcp-enabled-components",
    "x-mcp-disabled-components",
    "x-mcp-enabled-tags",
    "x-mcp-disabled-tags",
];

type Pairs = Vec<(&'static str, String)>;
