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
    // Where nothing runs code these names mean something else.
    assert!(guarded("chem", "", &["chem_send", "chem_check_job", "execute_code"]).is_empty());
    assert!(guarded("x", "", &["execute__code", "a_execute__code", "_send"]).is_empty());
}

#[test]
fn no_name_makes_a_guarded_tool_another_one() {
    let settings = r#"{"aliases": {"chem_send": "post"}, "hide": ["chem_cancel_batch"]}"#;
    let guarded =
        guarded("chem", settings, &["execute_chem_code", "chem_send", "chem_cancel_batch"]);
    assert_eq!(guarded, ["execute_lab_code", "post"]);
}

#[test]
fn no_handshake_name_lifts_the_guard() {
    let own = [
        "execute_chem_code",
        "chem_check_job",
        "chem_list_sessions",
        "chem_get_session_info",
        "chem_close_session",
        "chem_inspect_session",
        "chem_check_batch",
        "chem_cancel_batch",
        "chem_send",
    ];
    for server_name in ["else", "hub-connector", ""] {
        let guarded = guarded(server_name, "", &TOOLS);
        assert_eq!(guarded, own.map(|own| format!("lab_{own}")), "{server_name}");
    }
}

#[test]
fn each_server_behind_a_connector_is_guarded_however_deep() {
    let tools = [
        "execute_chem_code",
        "gis_check_job",
        "execute_gis_code",
        "below_execute_x_code",
        "below_x_check_job",
        "mid_below_execute_x_y_code",
        "mid_below_x_y_list_sessions",
        // Of servers that run no code.
        "x_check_job",
        "mail_send",
        "below_mail_send",
        "below_parallel_execute",
    ];
    for server_name in ["chem", "hub"] {
        let mut lab = upstream("lab", &tools);
        server_name.clone_into(&mut lab.server_name);
        let (entries, _) = shaped(vec![lab]);
        let is_guarded = |entry: &&Entry| matches!(entry.target, Target::Guarded(_));
        let guarded: Vec<_> = entries.iter().filter(is_guarded).map(target).collect();
        assert_eq!(guarded, tools.map(|own| ("lab", own)).get(..7).unwrap(), "{server_name}");
    }
}

#[test]
fn the_word_execute_in_a_name_leaves_no_gap() {
    // `b` behind `a_execute`, or `execute_b` behind `a`: either way.
    for own in ["a_execute_b_send", "a_b_send"] {
        assert_eq!(guarded("x", "", &["a_execute_execute_b_code", own]).len(), 2, "{own}");
    }
    let tools = ["execute_execute_code", "execute_list_sessions"];
    assert_eq!(guarded("x", "", &tools), tools.map(|own| format!("lab_{own}")));
}

#[test]
fn another_upstreams_names_guard_nothing() {
    let (lab, other) = (upstream("lab", &TOOLS), upstream("other", &["chem_send"]));
    let (entries, _) = shaped(vec![lab, other]);
    let of_other = entries.iter().find(|entry| target(entry).0 == "other").unwrap();
    assert!(matches!(of_other.target, Target::Fixed(_)), "{of_other:?}");
}

#[test]
fn a_tool_that_is_not_shown_still_tells_of_its_server() {
    let settings = r#"{"hide": ["execute_*"]}"#;
    let tools = ["execute_chem_code", "chem_list_sessions"];
    assert_eq!(guarded("hub", settings, &tools), ["lab_chem_list_sessions"]);
}
