//! The plan of workflows: the reference's captured outputs, bridges, and what is hidden.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    Served, bridge, chem, connector, executing, function, gis, hub, on, prepared, problems,
};
use crate::unified::plan::graph::Graph;
use crate::unified::sight::Sight;

const PLAN: &str = "plan_hub_workflow";

fn plan(arguments: Value) -> Value {
    hub().ask(PLAN, arguments)
}

#[test]
fn the_overview_is_the_references() {
    let skills = json!([{
        "name": "drug-screening", "description": "Screen molecules by descriptors",
        "states": ["chem.molecule_parsed"],
    }]);
    let bridges = json!([{
        "from": "chem.descriptors_computed", "to": "gis.points_loaded",
        "description": "Pass descriptors to map",
    }]);
    let gis = json!({
        "domain": "gis",
        "states": {"gis.map_rendered": "MAP_RENDERED", "gis.points_loaded": "POINTS_LOADED"},
        "edges": [{"from": "gis.points_loaded", "to": "gis.map_rendered", "tool": "map_points"}],
        "affordances": {}, "skills": [],
    });
    let chem = json!({
        "domain": "chem",
        "states": {
            "chem.descriptors_computed": "DESCRIPTORS_COMPUTED",
            "chem.molecule_parsed": "MOLECULE_PARSED",
        },
        "edges": [
            {"from": "(start)", "to": "chem.molecule_parsed", "tool": "parse_molecule"},
            {"from": "chem.molecule_parsed", "to": "chem.descriptors_computed", "tool": "compute_descriptors"},
        ],
        "affordances": {}, "skills": skills,
    });
    assert_eq!(plan(json!({})), json!({"domains": [chem, gis], "bridges": bridges}));
    let one = plan(json!({"mode": "overview", "domain": "gis"}));
    assert_eq!(one, json!({"domains": [gis], "bridges": bridges}));
    assert_eq!(
        plan(json!({"domain": "zz"})),
        json!({
            "message": "No state graph found for domain 'zz'.",
            "available_domains": ["chem", "gis"],
            "hint": "You can always use execute_{domain}_code to work directly in a domain environment, \
                     even without an annotated state graph.",
        })
    );
}

#[test]
fn next_steps_tell_both_directions() {
    let skill = json!([{
        "name": "drug-screening", "description": "Screen molecules by descriptors",
        "domain": "chem", "states": ["chem.molecule_parsed"],
    }]);
    let parse = json!({
        "name": "parse_molecule", "server": "chem",
        "description": "Parse and validate a SMILES string into a molecule",
        "requires": [], "produces": ["chem.molecule_parsed"],
    });
    let compute = json!({
        "name": "compute_descriptors", "server": "chem",
        "description": "Compute molecular descriptors such as weight",
        "requires": ["chem.molecule_parsed"], "produces": ["chem.descriptors_computed"],
    });
    assert_eq!(
        plan(json!({"mode": "next_steps", "current_state": "chem.molecule_parsed"})),
        json!({
            "state": "chem.molecule_parsed", "affordances": [], "tools_from_here": [compute],
            "next_states": ["chem.descriptors_computed"],
            "tools_that_produce_this_state": [parse], "relevant_skills": skill,
        })
    );
    let last = plan(json!({"mode": "next_steps", "current_state": "gis.map_rendered"}));
    assert_eq!(last["tools_from_here"], json!([]));
    assert_eq!(
        last["hint"],
        "No annotated tools transition from 'gis.map_rendered'. You can always use execute_gis_code to work \
         directly in the gis environment."
    );
    assert!(last.get("relevant_skills").is_none());
    assert_eq!(
        plan(json!({"mode": "next_steps"})),
        json!({"error": "Provide a 'state' parameter (e.g. 'domain.state_name')."})
    );
}

#[test]
fn a_path_crosses_a_bridge() {
    let walk = |from: &str, to: &str| {
        plan(json!({"mode": "path", "current_state": from, "target_state": to}))
    };
    let found = walk("chem.molecule_parsed", "gis.map_rendered");
    assert_eq!(
        found["path"],
        json!([
            {"tool": "compute_descriptors", "server": "chem",
             "from_state": "chem.molecule_parsed", "to_state": "chem.descriptors_computed"},
            {"tool": "bridge:chem.descriptors_computed→gis.points_loaded", "server": "(bridge)",
             "from_state": "chem.descriptors_computed", "to_state": "gis.points_loaded"},
            {"tool": "map_points", "server": "gis",
             "from_state": "gis.points_loaded", "to_state": "gis.map_rendered"},
        ])
    );
    assert_eq!(found["relevant_skills"][0]["name"], "drug-screening");
    assert_eq!(walk("gis.map_rendered", "gis.map_rendered")["path"], json!([]));
    assert_eq!(
        walk("gis.map_rendered", "chem.molecule_parsed"),
        json!({
            "source": "gis.map_rendered", "target": "chem.molecule_parsed", "path": null,
            "hint": "No annotated tool path from 'gis.map_rendered' to 'chem.molecule_parsed'. You can use \
                     execute_gis_code to accomplish tasks not covered by the annotated tool graph.",
        })
    );
    // Only states can be left; the beginning is none.
    assert!(walk("(start)", "chem.molecule_parsed")["path"].is_null());
    assert_eq!(
        walk("", "x"),
        json!({"error": "Provide both 'state' (source) and 'target_state' parameters."})
    );
}

#[test]
fn a_tool_is_looked_up_and_modes_are_four() {
    let found = plan(json!({"mode": "tool", "tool_name": "map_points"}));
    assert_eq!(
        found,
        json!({
            "name": "map_points", "server": "gis", "description": "Render points on a map",
            "requires": ["gis.points_loaded"], "produces": ["gis.map_rendered"],
        })
    );
    assert_eq!(
        plan(json!({"mode": "tool", "tool_name": "zz"})),
        json!({
            "error": "Tool 'zz' not found in the state graph.",
            "hint": "The tool may exist but have no state annotations. Use search_tools to find it by name or \
                     description.",
        })
    );
    assert_eq!(plan(json!({"mode": "tool"})), json!({"error": "Provide a 'tool_name' parameter."}));
    assert_eq!(
        plan(json!({"mode": "zz"})),
        json!({"error": "Unknown mode 'zz'. Use: overview, next_steps, path, tool."})
    );
    assert!(hub().refusal(PLAN, json!({"modus": "tool"})).contains("unknown field `modus`"));
}

#[test]
fn any_one_of_the_required_states_is_enough() {
    let either = function("either", "", &["d.a", "d.b"], &["d.c"]);
    let one = executing("d", &[either], &[]);
    let served = Served::of(&json!({"unified_tools": true}), vec![one], &[]);
    for from in ["d.a", "d.b"] {
        let found =
            served.ask(PLAN, json!({"mode": "path", "current_state": from, "target_state": "d.c"}));
        assert_eq!(found["path"][0]["tool"], "either", "{found}");
    }
}

#[test]
fn a_server_that_is_called_otherwise_than_its_states_has_its_steps() {
    let mut lab = chem();
    lab.name = "lab".to_owned();
    lab.server_name = "chem".to_owned();
    let served = Served::of(&json!({"unified_tools": true}), vec![lab], &[]);
    let found = served.ask(PLAN, json!({}));
    assert_eq!(found["domains"][0]["edges"].as_array().unwrap().len(), 2, "{found}");
}

#[test]
fn a_bridge_that_begins_or_ends_nowhere_is_named_with_the_documented_sentence() {
    let bad = vec![bridge("chem.nope", "gis.nope2"), bridge("chem.molecule_parsed", "gis.nope2")];
    let view = connector(vec![chem(), gis()]);
    let (prepared, warnings) = prepared(view.clone(), &on(bad.clone()));
    assert!(prepared.bridges.is_empty() && warnings.is_empty());
    let both = "Invalid bridge edge in 'hub' config: from_state 'chem.nope' not found in any upstream's state_produces; \
                to_state 'gis.nope2' not found in any upstream's state_requires";
    let one = "Invalid bridge edge in 'hub' config: to_state 'gis.nope2' not found in any upstream's state_requires";
    let wanted = vec![both.to_owned(), one.to_owned()];
    assert_eq!(problems(view.clone(), &on(bad.clone())), (wanted, false));
    let good = vec![bridge("chem.descriptors_computed", "gis.points_loaded")];
    assert_eq!(problems(view.clone(), &on(good.clone())), (Vec::new(), false));
    // What is missing may belong to a server that was not reached yet.
    let mut later = super::upstream("later", &[]);
    later.server_name = String::new();
    later.up = false;
    // Or to one whose catalogue could not be read.
    let mut unread = super::upstream("unread", &["execute_unread_code"]);
    unread.documents = vec![("catalog-unread".to_owned(), "it takes too long".to_owned())];
    for one in [later, unread] {
        let mut view = view.clone();
        view.upstreams.push(one);
        assert_eq!(problems(view.clone(), &on(bad.clone())), (Vec::new(), true));
        assert_eq!(
            problems(view.clone(), &on(good.clone())),
            (Vec::new(), false),
            "it holds already"
        );
        assert!(super::prepared(view, &on(bad.clone())).0.bridges.is_empty());
    }
}

#[test]
fn what_is_hidden_is_no_part_of_the_plan() {
    let config = json!({"unified_tools": true, "bridges": [
        {"from_state": "chem.descriptors_computed", "to_state": "gis.points_loaded"},
    ]});
    let served = Served::of(&config, vec![chem(), gis()], &["execute_gis_code"]);
    let found = served.ask(PLAN, json!({}));
    assert!(!found.to_string().contains("gis"), "{found}");
    assert_eq!(found["domains"][0]["domain"], "chem");
    let found = served.ask(PLAN, json!({"mode": "tool", "tool_name": "map_points"}));
    assert!(found["error"].is_string(), "{found}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_path_is_a_walk_and_none_is_shorter(
        steps in prop::collection::vec((prop::collection::vec(0_u8..7, 0..3), prop::collection::vec(0_u8..7, 0..3)), 0..9),
        from in 0_u8..7,
        to in 0_u8..7,
    ) {
        let named = |states: &[u8]| -> Vec<String> { states.iter().map(|state| format!("d.s{state}")).collect() };
        let functions: Vec<Value> = steps.iter().enumerate().map(|(place, (requires, produces))| {
            let (requires, produces) = (named(requires), named(produces));
            let borrowed = |all: &[String]| -> Vec<String> { all.to_vec() };
            let mut made = function(&format!("f{place}"), "", &[], &[]);
            made["state_transition"] = json!({"requires": borrowed(&requires), "produces": borrowed(&produces)});
            made
        }).collect();
        let (prepared, _) = prepared(connector(vec![executing("d", &functions, &[])]), &on(Vec::new()));
        let graph = Graph::of(&prepared, &Sight::whole(&prepared));
        let (source, target) = (format!("d.s{from}"), format!("d.s{to}"));
        // The distance, found by letting states spread.
        let (mut reached, mut distance) = (vec![from], 0_usize);
        while !reached.contains(&to) && distance <= 7 {
            let next: Vec<u8> = steps.iter()
                .filter(|(requires, _)| requires.iter().any(|state| reached.contains(state)))
                .flat_map(|(_, produces)| produces.clone()).collect();
            reached.extend(next);
            distance += 1;
        }
        let wanted = reached.contains(&to).then_some(distance);
        let found = graph.path(&source, &target);
        prop_assert_eq!(found.as_ref().map(Vec::len), wanted);
        let mut here = source.as_str();
        for one in found.iter().flatten() {
            let step = &graph.steps[one.step];
            prop_assert!(one.from == here && step.requires.contains(&one.from) && step.produces.contains(&one.to));
            here = one.to;
        }
        prop_assert!(found.is_none() || here == target);
    }
}
