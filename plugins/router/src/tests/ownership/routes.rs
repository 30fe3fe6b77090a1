//! Which calls go to the server as they are, and what is learned of their answers.

use plugway_sdk::prelude::*;
use plugway_sdk::testing::Host;
use serde_json::{Value, json};

use super::{OTHER, SESSION, call_of, python, router, wrapped};

fn route(host: &Host, caller: &str, own: &str, arguments: Value) -> Route {
    call_of(host, caller, own, arguments);
    host.run(|| router().route()).unwrap()
}

#[test]
fn own_ids_pass_and_all_others_are_answered() {
    let host = Host::new();
    host.handle("ann", "lab", "session", SESSION)
        .handle("ann", "lab", "job", "j_0123456789ab")
        .handle("ann", "lab", "batch", "b_0123456789ab")
        .handle("ann", "gis", "session", OTHER);
    for (own, arguments) in [
        ("execute_chem_code", json!({"code": "1", "execution_session_id": SESSION})),
        ("chem_check_job", json!({"job_id": "j_0123456789ab"})),
        ("chem_check_batch", json!({"batch_id": "b_0123456789ab"})),
        ("chem_cancel_batch", json!({"batch_id": "b_0123456789ab"})),
        ("chem_send", json!({"data_ref": "x", "to": "user", "session_id": SESSION})),
        // The session is one of the server that is sent to.
        ("chem_send", json!({"data_ref": "x", "to": "gis", "session_id": OTHER})),
    ] {
        let forward = Route::to("lab", own);
        // bob has none of them, and at another kind they are none of ann's.
        let mut other = arguments.clone();
        for value in other.as_object_mut().unwrap().values_mut() {
            if value.as_str().is_some_and(|text| text.len() > 8) {
                *value = json!("j_ba9876543210");
            }
        }
        assert_eq!(route(&host, "bob", own, arguments.clone()), Route::Answer, "{own}");
        assert_eq!(route(&host, "ann", own, other), Route::Answer, "{own}");
        assert_eq!(route(&host, "ann", own, arguments), forward, "{own}");
    }
    let foreign = json!({"code": "1", "execution_session_id": OTHER});
    assert_eq!(
        route(&host, "ann", "execute_chem_code", foreign),
        Route::Answer,
        "of another server"
    );
}

#[test]
fn a_connector_between_changes_nothing() {
    let host = Host::new();
    host.handle("ann", "lab", "session", SESSION);
    let own = "mid_below_execute_chem_code";
    let call = json!({"code": "1", "execution_session_id": SESSION});
    assert_eq!(route(&host, "ann", own, call.clone()), Route::to("lab", own));
    assert_eq!(route(&host, "bob", own, call), Route::Answer);
    let own = "mid_below_chem_list_sessions";
    assert_eq!(route(&host, "ann", own, json!({})), Route::Answer);
}

#[test]
fn a_call_without_an_id_passes() {
    let host = Host::new();
    for (own, arguments) in [
        ("execute_chem_code", json!({"code": "1"})),
        ("execute_chem_code", json!({"code": "1", "execution_session_id": null})),
        ("execute_chem_code", json!({"code": "1", "execution_session_id": ""})),
        ("chem_check_job", json!({})),
    ] {
        assert_eq!(route(&host, "ann", own, arguments), Route::to("lab", own), "{own}");
    }
}

#[test]
fn what_is_no_text_is_refused() {
    let host = Host::new();
    for value in [json!(1), json!(true), json!([SESSION]), json!({"a": SESSION})] {
        let route = route(&host, "ann", "chem_check_job", json!({"job_id": value}));
        assert_eq!(route, Route::refuse("The argument `job_id` is no text."));
    }
}

#[test]
fn sessions_are_listed_and_closed_by_the_router() {
    let host = Host::new();
    host.handle("ann", "lab", "session", SESSION);
    for own in [
        "chem_list_sessions",
        "chem_close_session",
        "chem_inspect_session",
        "chem_get_session_info",
    ] {
        assert_eq!(
            route(&host, "ann", own, json!({"session_id": SESSION})),
            Route::Answer,
            "{own}"
        );
    }
}

fn learned(own: &str, text: &str) -> Vec<(String, String)> {
    let host = Host::new();
    call_of(&host, "ann", own, json!({}));
    host.answered(wrapped(text));
    host.run(|| router().learn()).unwrap();
    host.handles()
        .into_iter()
        .map(|(upstream, kind, id, caller)| {
            assert_eq!((upstream.as_str(), caller.as_str()), ("lab", "ann"));
            (kind, id)
        })
        .collect()
}

fn pairs(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
    wanted.iter().map(|(kind, id)| ((*kind).to_owned(), (*id).to_owned())).collect()
}

#[test]
fn ids_are_learned_where_servers_give_them() {
    let run = python(&json!({
        "description": "", "stdout": "{\"session_id\": \"printed\", \"job_id\": \"printed\"}",
        "stderr": "", "success": true, "error": null, "artifacts": [], "session_id": SESSION,
    }));
    assert_eq!(learned("execute_chem_code", &run), pairs(&[("session", SESSION)]));
    let job = python(
        &json!({"job_id": "j_1", "status": "running", "session_id": SESSION, "promoted": true}),
    );
    let wanted = pairs(&[("job", "j_1"), ("session", SESSION)]);
    assert_eq!(learned("execute_chem_code", &job), wanted);
    assert_eq!(learned("chem_check_job", &job), wanted);
    let batch = python(&json!({"batch_id": "b_1", "jobs": [
        {"job_id": "j_1", "session_id": SESSION, "status": "running", "input_index": 0},
        {"job_id": "j_2", "session_id": OTHER, "status": "running", "input_index": 1},
    ]}));
    let wanted = [
        ("batch", "b_1"),
        ("job", "j_1"),
        ("job", "j_2"),
        ("session", SESSION),
        ("session", OTHER),
    ];
    assert_eq!(learned("chem_parallel_execute", &batch), pairs(&wanted));
    let checked = python(&json!({
        "batch_id": "b_1", "parent_session_id": OTHER, "status": "completed", "jobs": [
            {"job_id": "j_1", "session_id": SESSION, "status": "completed", "input_index": 0,
             "result": {"session_id": "computed", "job_id": "computed"}},
        ],
    }));
    let wanted = [("batch", "b_1"), ("job", "j_1"), ("session", SESSION), ("session", OTHER)];
    assert_eq!(learned("chem_check_batch", &checked), pairs(&wanted));
}

#[test]
fn nothing_is_learned_of_failures_and_foreign_texts() {
    for text in [
        r#"{"success": false, "error": "Job j_1 not found"}"#,
        "1 validation error for call[execute_code_proxy]",
        r#"{"session_id": 5}"#,
        r#"{"session_id": "a", "session_id": "b"}"#,
        "[]",
        "",
    ] {
        assert!(learned("execute_chem_code", text).is_empty(), "{text}");
    }
}

#[test]
fn an_id_stays_with_whom_it_was_given_to_first() {
    let host = Host::new();
    host.handle("bob", "lab", "session", SESSION);
    call_of(&host, "ann", "execute_chem_code", json!({"code": "1"}));
    host.answered(wrapped(&json!({"session_id": SESSION}).to_string()));
    host.run(|| router().learn()).unwrap();
    let owner = host.handles().into_iter().map(|(.., caller)| caller).collect::<Vec<_>>();
    assert_eq!(owner, ["bob"]);
}
