//! Which skill a name means.

use serde_json::{Value, json};

use super::{Reply, Served, chem, connector, executing, on, prepared, screening};
use crate::unified::prepared::Prepared;
use crate::unified::sight::Sight;
use crate::unified::skills::resolve;

fn two() -> Prepared {
    let other = json!({"name": "routing", "description": "", "domain": "gis", "states": []});
    let gis = executing("gis", &[], &[other, screening("gis")]);
    prepared(connector(vec![chem(), gis]), &on(Vec::new())).0
}

fn found(prepared: &Prepared, name: &str, server: &str) -> Result<String, Value> {
    let loadable = resolve(prepared, &Sight::whole(prepared), name, server)?;
    Ok(prepared.way(loadable.way).unwrap().0.tool.clone())
}

#[test]
fn a_name_that_only_one_has_is_enough() {
    assert_eq!(found(&two(), "routing", ""), Ok("load_gis_skill".to_owned()));
    assert_eq!(found(&two(), "drug-screening", "chem"), Ok("load_chem_skill".to_owned()));
}

#[test]
fn there_are_three_errors() {
    let prepared = two();
    assert_eq!(
        found(&prepared, "zz", ""),
        Err(json!({
            "error": "Skill 'zz' not found.", "available_skills": ["drug-screening", "routing"],
        }))
    );
    assert_eq!(
        found(&prepared, "zz", "chem"),
        Err(json!({"error": "Skill 'zz' not found.", "available_skills": ["drug-screening"]}))
    );
    assert_eq!(
        found(&prepared, "routing", "mars"),
        Err(json!({
            "error": "Unknown upstream 'mars'.", "available_upstreams": ["chem", "gis"],
        }))
    );
    assert_eq!(
        found(&prepared, "drug-screening", ""),
        Err(json!({
            "error": "Skill 'drug-screening' exists on multiple upstreams: ['chem', 'gis']. Specify the \
                      'upstream' parameter to disambiguate.",
            "matches": [
                {"skill_name": "drug-screening", "upstream": "chem"},
                {"skill_name": "drug-screening", "upstream": "gis"},
            ],
        }))
    );
}

#[test]
fn a_server_that_lists_a_skill_twice_has_it_once() {
    let lab = executing("lab", &[], &[screening("lab"), screening("lab")]);
    let (prepared, _) = prepared(connector(vec![lab]), &on(Vec::new()));
    assert_eq!(found(&prepared, "drug-screening", ""), Ok("load_lab_skill".to_owned()));
}

#[test]
fn a_skill_is_loaded_by_the_server_that_has_it_as_the_caller() {
    let gis = executing("gis", &[], &[screening("gis")]);
    let mut chemistry = chem();
    // Its own name is another one than the configured.
    chemistry.name = "lab".to_owned();
    chemistry.server_name = "chem-executor".to_owned();
    let served = Served::of(&json!({"unified_tools": true}), vec![chemistry, gis], &[]);
    served.host.on_request(|upstream, method, params| match upstream {
        "lab" => Ok(format!(
            r#"{{"content": [{{"type": "text", "text": "{method}"}}], "asked": {params}}}"#
        )),
        _ => Err(r#"{"code": -32602, "message": "Not today."}"#.to_owned()),
    });
    let ask = |upstream: &str| {
        served
            .reply("load_hub_skill", json!({"skill_name": "drug-screening", "upstream": upstream}))
    };
    let Reply::Answer(loaded) = ask("lab") else { panic!("refused") };
    let loaded: Value = serde_json::from_str(&loaded).unwrap();
    assert_eq!(loaded["content"][0]["text"], "tools/call");
    assert_eq!(
        loaded["asked"],
        json!({"name": "load_chem_skill", "arguments": {"skill_name": "drug-screening"}})
    );
    assert!(matches!(ask("gis"), Reply::Reject(rejection) if rejection.message == "Not today."));
    let both = served.ask("load_hub_skill", json!({"skill_name": "drug-screening"}));
    assert_eq!(both["matches"].as_array().unwrap().len(), 2);
    let found = served.ask("search_hub_tools", json!({"query": "screening"}));
    assert_eq!(
        found["skills"][1]["to_access"],
        "Load with load_hub_skill(skill_name=\"drug-screening\", upstream=\"gis\")"
    );
    let wrong = served.refusal("load_hub_skill", json!({}));
    assert_eq!(wrong, "The arguments are not valid: missing field `skill_name`.");
}

#[test]
fn who_does_not_have_the_routers_tool_is_told_of_the_servers() {
    let served = Served::of(&json!({"unified_tools": true}), vec![chem()], &["load_hub_skill"]);
    let found = served.ask("search_hub_tools", json!({"query": "screening"}));
    assert_eq!(
        found["skills"][0]["to_access"],
        "Load with load_chem_skill(skill_name=\"drug-screening\")"
    );
}
