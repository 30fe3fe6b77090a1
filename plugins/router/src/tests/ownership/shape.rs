//! Which entries are guarded: of the tool lists of real servers, those that take or list ids.

use plugway_sdk::prelude::{Entry, Target};

use crate::tests::{shaped, shown, target, upstream};

const TOOLS: [&str; 13] = [
    "execute_chem_code",
    "chem_check_job",
    "search_chem_tools",
    "plan_chem_workflow",
    "load_chem_skill",
    "chem_list_sessions",
    "chem_get_session_info",
    "chem_close_session",
    "chem_inspect_session",
    "chem_parallel_execute",
    "chem_check_batch",
    "chem_cancel_batch",
    "chem_send",
];

fn guarded(server_name: &str, settings: &str, tools: &[&str]) -> Vec<String> {
    let mut lab = upstream("lab", tools);
    server_name.clone_into(&mut lab.server_name);
    settings.clone_into(&mut lab.settings);
    let (entries, _) = shaped(vec![lab]);
    let guarded = entries.iter().filter(|entry| matches!(entry.target, Target::Guarded(_)));
    guarded.map(shown).collect()
}

#[test]
fn tools_that_are_about_ids_are_guarded_and_others_are_not() {
    let wanted = [
        "execute_lab_code",
        "lab_check_job",
        "lab_list_sessions",
        "lab_get_session_info",
        "lab_close_session",
        "lab_inspect_session",
        "lab_check_batch",
        "lab_cancel_batch",
        "lab_send",
    ];
    assert_eq!(guarded("chem-executor", "", &TOOLS), wanted);
    // Its name is in no way the pattern's: these tools mean something else.
    assert!(guarded("else", "", &TOOLS).is_empty());
    assert!(guarded("chem", "", &["chem_send", "chem_check_job"]).is_empty());
}

#[test]
fn no_name_makes_a_guarded_tool_another_one() {
    let settings = r#"{"aliases": {"chem_send": "post"}, "hide": ["chem_cancel_batch"]}"#;
    let guarded =
        guarded("chem", settings, &["execute_chem_code", "chem_send", "chem_cancel_batch"]);
    assert_eq!(guarded, ["execute_lab_code", "post"]);
}

#[test]
fn another_servers_tools_are_its_own() {
    let mut lab = upstream("lab", &["execute_chem_code", "gis_check_job", "execute_gis_code"]);
    lab.server_name = "chem".to_owned();
    let (entries, _) = shaped(vec![lab]);
    let is_guarded = |entry: &&Entry| matches!(entry.target, Target::Guarded(_));
    let guarded: Vec<_> = entries.iter().filter(is_guarded).map(target).collect();
    assert_eq!(guarded, [("lab", "execute_chem_code")]);
}
