use plugway_sdk::hooks::visibility::{Page, Sight, Visibility as _};
use plugway_sdk::testing::Host;
use serde_json::{Value, json};

use super::gateway;

/// Kind, shown name, server and its own name.
type Row<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The rows that are not shown. The server `chem` runs code and has these functions.
fn unlisted<'a>(config: Value, host: &Host, rows: &[Row<'a>], functions: &str) -> Vec<&'a str> {
    let kinds = ["tool", "prompt", "resource", "template", "function"];
    let place = |all: &[&str], word: &str| {
        u32::try_from(all.iter().position(|known| *known == word).unwrap()).unwrap()
    };
    let servers = ["", "chem", "notes"];
    host.caller("ann");
    for ((_, _, server, own), index) in rows.iter().zip(0..) {
        host.detail(index, "upstream-name", own).detail(index, "connector", "hub");
        if *server == "chem" {
            host.detail(index, "runs-code", "true").detail(index, "functions", functions);
        }
    }
    let page = Page {
        names: rows.iter().map(|row| row.1.to_owned()).collect(),
        kind_of: rows.iter().map(|row| place(&kinds, row.0)).collect(),
        upstream_of: rows.iter().map(|row| place(&servers, row.2)).collect(),
        tags_of: vec![0; rows.len()],
        hints_of: vec![0; rows.len()],
        kinds: kinds.map(str::to_owned).to_vec(),
        upstreams: servers.map(str::to_owned).to_vec(),
        tag_sets: vec![vec![]],
        hint_sets: vec![vec![]],
    };
    let view = host.run(|| gateway(config).visible(page)).unwrap();
    assert_eq!(view.sights.len(), rows.len());
    let sights = rows.iter().zip(view.sights);
    let left = sights.filter(|(_, sight)| *sight != Sight::Shown);
    left.map(|((_, shown, ..), sight)| {
        assert_eq!(sight, Sight::Unlisted, "{shown}: who calls it has to hear why");
        *shown
    })
    .collect()
}

const ROWS: [Row<'static>; 12] = [
    ("tool", "execute_c_code", "chem", "execute_chem_code"),
    ("tool", "c_parallel_execute", "chem", "chem_parallel_execute"),
    ("tool", "c_check_batch", "chem", "chem_check_batch"),
    ("tool", "c_send", "chem", "chem_send"),
    ("tool", "notes_mail_send", "notes", "mail_send"),
    ("tool", "notes_read", "notes", "read"),
    ("tool", "search_hub_tools", "", "search_hub_tools"),
    ("function", "dock", "chem", "dock"),
    ("function", "parse", "chem", "parse"),
    ("prompt", "notes_read", "notes", "read"),
    ("template", "notes://{id}", "notes", "notes://{id}"),
    ("resource", "plugway://hub/status", "", "plugway://hub/status"),
];

fn left_out(config: Value) -> Vec<&'static str> {
    unlisted(config, &Host::new(), &ROWS, "dock\nparse\n")
}

#[test]
fn everything_is_shown_where_nothing_is_said() {
    assert!(left_out(json!({"max_calls_per_minute": 1, "confirm": "destructive"})).is_empty());
}

#[test]
fn what_is_blocked_is_unlisted() {
    assert_eq!(
        left_out(
            json!({"blocked_tools": ["parallel_execute", "send", "search_tools", "dock", "notes_read"]})
        ),
        ["c_parallel_execute", "c_check_batch", "c_send", "notes_read", "search_hub_tools", "dock"]
    );
    assert_eq!(
        left_out(json!({"blocked_prompts": ["read"], "blocked_resources": ["notes:*"]})),
        ["notes_read", "notes://{id}"]
    );
}

#[test]
fn an_allow_list_shows_what_it_names_and_what_that_brings() {
    assert_eq!(
        left_out(json!({"allowed_tools": ["parse"]})),
        ["c_send", "notes_mail_send", "notes_read", "dock"]
    );
    assert_eq!(
        left_out(json!({"allowed_tools": ["execute_code"]})),
        ["c_parallel_execute", "c_check_batch", "c_send", "notes_mail_send", "notes_read"]
    );
    assert_eq!(left_out(json!({"allowed_resources": ["x:*"]})), ["notes://{id}"]);
}

#[test]
fn functions_on_the_page_count_where_nobody_tells_of_them() {
    let rows = [ROWS[0], ROWS[7], ROWS[8]];
    let left = unlisted(json!({"allowed_tools": ["parse"]}), &Host::new(), &rows, "");
    assert_eq!(left, ["dock"]);
}

#[test]
fn who_observes_shows_everything() {
    assert!(
        left_out(json!({"mode": "observe", "blocked_tools": ["*"], "default": "deny"})).is_empty()
    );
}

#[test]
fn rules_hide_what_they_refuse_whatever_the_arguments() {
    let rules = json!([
        {"when": {"tool": "read"}, "do": "deny"},
        {"when": {"tool": "mail_send", "argument": {"pointer": "/to", "equals": "eve"}}, "do": "deny"},
    ]);
    assert_eq!(left_out(json!({"rules": rules})), ["notes_read"]);
}

#[test]
fn rules_leave_functions_to_lists() {
    let few = json!([{"when": {"tool": ["execute_code", "search_tools"]}, "do": "allow"}]);
    assert_eq!(
        left_out(json!({"default": "deny", "rules": few, "blocked_tools": ["dock"]})),
        [
            "c_parallel_execute",
            "c_check_batch",
            "c_send",
            "notes_mail_send",
            "notes_read",
            "dock",
            "notes_read",
            "notes://{id}",
            "plugway://hub/status"
        ]
    );
}
