//! Which names clients see.

use super::{names, shaped, target, upstream};
use crate::config::Settings;
use crate::warning::Warning;

fn with(settings: &str, tools: &[&str]) -> Vec<String> {
    let mut one = upstream("files", tools);
    settings.clone_into(&mut one.settings);
    names(vec![one])
}

#[test]
fn a_prefix_is_the_default() {
    assert_eq!(with("", &["read"]), ["files_read"]);
    assert_eq!(with("{}", &["read"]), ["files_read"]);
    assert_eq!(with(r#"{"prefix": "always"}"#, &["read"]), ["files_read"]);
    assert_eq!(with(r#"{"prefix": "never"}"#, &["read"]), ["read"]);
}

#[test]
fn aliases_stand_alone() {
    assert_eq!(with(r#"{"aliases": {"read": "cat"}}"#, &["read", "write"]), ["cat", "files_write"]);
}

#[test]
fn only_exposed_ones_are_served() {
    let tools = ["read_file", "read_dir", "write_file", "stat"];
    assert_eq!(
        with(r#"{"expose": ["read_*", "stat"], "prefix": "never"}"#, &tools),
        ["read_file", "read_dir", "stat"]
    );
    assert!(with(r#"{"expose": []}"#, &tools).is_empty());
    assert_eq!(with(r#"{"hide": ["*_file"], "prefix": "never"}"#, &tools), ["read_dir", "stat"]);
    assert_eq!(
        with(r#"{"expose": ["read_*"], "hide": ["read_dir"], "prefix": "never"}"#, &tools),
        ["read_file"]
    );
}

#[test]
fn words_that_mean_functions_leave_the_tools_of_a_code_execution_server_alone() {
    let settings = r#"{"of_functions": true, "expose": ["parse_*"], "hide": ["x_send"],
        "aliases": {"x_check_job": "job", "parse_it": "read"}}"#;
    let running = |tools: &[&str]| {
        let mut one = upstream("chem", tools);
        (one.settings, one.server_name) = (settings.to_owned(), "x-executor".to_owned());
        names(vec![one])
    };
    let tools = ["execute_x_code", "x_check_job", "x_send", "other"];
    assert_eq!(running(&tools), ["execute_chem_code", "chem_check_job", "chem_other"]);
    assert_eq!(running(&["parse_it", "parse_more", "other"]), ["read", "chem_parse_more"]);
}

#[test]
fn unknown_settings_are_refused_by_their_path() {
    let refused = |json: &str| Settings::parse(json).unwrap_err().to_string();
    assert!(refused(r#"{"prefixes": "never"}"#).starts_with("prefixes: unknown field"));
    assert!(refused(r#"{"prefix": "maybe"}"#).starts_with("prefix: unknown variant"));
    assert!(refused(r#"{"aliases": {"a": ""}}"#).starts_with("aliases.a: "));
    assert!(refused(r#"{"expose": "x"}"#).starts_with("expose: invalid type"));
}

#[test]
fn foreign_characters_give_a_hash_that_never_changes() {
    assert_eq!(
        with("", &["a.b", "a/b", "a_b"]),
        ["files_a_b_313e1c29", "files_a_b_2fa0e41a", "files_a_b"]
    );
}

#[test]
fn long_names_are_shortened_and_stay_apart() {
    let (one, two) = ("x".repeat(70), format!("{}y", "x".repeat(69)));
    let made = with("", &[&one, &two]);
    assert!(made.iter().all(|name| name.len() == 64), "{made:?}");
    assert_ne!(made.first(), made.last());
    let fits = "x".repeat(58);
    assert_eq!(with("", &[&fits]), [format!("files_{fits}")]);
}

#[test]
fn the_first_in_the_configuration_wins_even_while_it_is_away() {
    let (mut first, mut second) = (upstream("a", &["x", "own"]), upstream("b", &["x"]));
    first.settings = r#"{"prefix": "never"}"#.to_owned();
    second.settings.clone_from(&first.settings);
    first.up = false;
    let (entries, warnings) = shaped(vec![first, second]);
    assert_eq!(entries.iter().map(target).collect::<Vec<_>>(), [("a", "x"), ("a", "own")]);
    let [warning @ Warning::Clash { winner, upstream, .. }] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    assert_eq!((winner.as_str(), upstream.as_str()), ("a", "b"));
    assert!(warning.to_string().starts_with("the tool x of b is left out: a comes first"));
}

#[test]
fn a_tool_listed_twice_counts_once() {
    let (entries, warnings) = shaped(vec![upstream("a", &["x", "x"])]);
    assert_eq!((entries.len(), warnings.len()), (1, 1));
    assert!(warnings[0].to_string().contains("twice"));
}

const CODE_EXECUTION: [&str; 15] = [
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
    "search_data",
    "chemical_lookup",
];

#[test]
fn code_execution_servers_keep_their_pattern_under_the_configured_name() {
    for (server_name, settings) in [("chem", ""), ("chem-executor", r#"{"prefix": "always"}"#)] {
        let mut lab = upstream("lab", &CODE_EXECUTION);
        server_name.clone_into(&mut lab.server_name);
        settings.clone_into(&mut lab.settings);
        let wanted = CODE_EXECUTION.map(|tool| match tool {
            "search_data" | "chemical_lookup" => format!("lab_{tool}"),
            _ => tool.replace("chem", "lab"),
        });
        assert_eq!(names(vec![lab]), wanted);
    }
}

#[test]
fn the_pattern_needs_the_server_to_list_its_execute_tool() {
    let mut lab = upstream("lab", &["chem_check_job", "plan_chem_workflow"]);
    lab.server_name = "chem".to_owned();
    assert_eq!(names(vec![lab]), ["lab_chem_check_job", "lab_plan_chem_workflow"]);
}

#[test]
fn the_pattern_yields_to_an_alias_and_never_drops_the_name() {
    let mut lab = upstream("lab", &["execute_chem_code", "chem_send", "search_data"]);
    lab.server_name = "chem".to_owned();
    lab.settings = r#"{"prefix": "never", "aliases": {"chem_send": "send"}}"#.to_owned();
    assert_eq!(names(vec![lab]), ["execute_lab_code", "send", "search_data"]);
}
