//! Which skill a name means.

use serde_json::{Value, json};

use super::{chem, connector, executing, on, prepared, screening};
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
