//! What is answered about ids that are not the caller's, and what of everybody's sessions is left out.

use std::cell::RefCell;
use std::rc::Rc;

use plugway_sdk::prelude::*;
use plugway_sdk::testing::Host;
use serde_json::{Value, json};

use super::{OTHER, SESSION, call_of, python, router, wrapped};

/// A server with these sessions, as the reference answers. Keeps the arguments that it was called with.
fn serving(host: &Host, all: &[&str]) -> Rc<RefCell<Vec<Value>>> {
    let asked: Rc<RefCell<Vec<Value>>> = Rc::default();
    let (seen, all) = (asked.clone(), all.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
    host.random(0x1234_5678).on_request(move |upstream, method, params| {
        assert_eq!((upstream, method), ("lab", "tools/call"));
        let params: Value = serde_json::from_str(params).unwrap();
        let arguments = params["arguments"].clone();
        let name = params["name"].as_str().unwrap();
        if name != "chem_list_sessions" {
            seen.borrow_mut().push(arguments.clone());
        }
        Ok(wrapped(&said(name, &arguments, &all)).to_string())
    });
    asked
}

fn said(name: &str, arguments: &Value, all: &[String]) -> String {
    let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    let no_session = |id: &str| {
        format!(
            "Session {id} not found. It may have expired or been cleaned up. Active sessions: {}",
            all.len()
        )
    };
    let failed = |error: String| python(&json!({"success": false, "error": error}));
    let session = text("session_id");
    match name {
        "chem_list_sessions" => {
            let sessions: Vec<Value> = all
                .iter()
                .map(|id| json!({"session_id": id, "session_type": "mcp_connection", "age_seconds": 1.5}))
                .collect();
            python(&json!({"success": true, "count": sessions.len(), "sessions": sessions}))
        }
        "chem_check_job" => failed(format!("Job {} not found", text("job_id"))),
        "chem_check_batch" => failed(format!("404: Batch '{}' not found", text("batch_id"))),
        "execute_chem_code" => python(
            &json!({"description": "", "stdout": "", "success": false, "error": no_session(&text("execution_session_id"))}),
        ),
        "chem_close_session" => python(
            &json!({"success": true, "message": format!("Session {session} closed successfully"), "remaining_sessions": all.len() - 1}),
        ),
        _ if all.contains(&session) => {
            let state = json!({"x": {"repr": "Active sessions: 99", "type": "str"}});
            python(&json!({"success": true, "session_id": session, "namespace": state}))
        }
        _ => failed(format!("Session not found: {}", no_session(&session))),
    }
}

fn answer(host: &Host, caller: &str, own: &str, arguments: Value) -> String {
    call_of(host, caller, own, arguments);
    match host.run(|| router().answer()).unwrap() {
        Reply::Answer(result) => result,
        Reply::Reject(refused) => panic!("{refused:?}"),
    }
}

fn text_of(result: &str) -> String {
    let result: Value = serde_json::from_str(result).unwrap();
    assert_eq!(result["content"][0]["text"], result["structuredContent"]["result"], "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn foreign_and_unknown_ids_are_answered_alike_but_for_the_id() {
    let ids =
        ["j_0123456789ab", "j_ba9876543210", "x", "", "a\"b\\c\n", "é€😀", "Active sessions: 5"];
    for (own, key, sentence) in [
        ("chem_check_job", "job_id", "Job {} not found"),
        ("chem_check_batch", "batch_id", "404: Batch '{}' not found"),
        (
            "chem_inspect_session",
            "session_id",
            "Session not found: Session {} not found. It may have expired or been cleaned up. Active sessions: 1",
        ),
        (
            "execute_chem_code",
            "execution_session_id",
            "Session {} not found. It may have expired or been cleaned up. Active sessions: 1",
        ),
    ] {
        let host = Host::new();
        host.handle("ann", "lab", "session", SESSION);
        for id in ids {
            host.handle("bob", "lab", "job", id)
                .handle("bob", "lab", "batch", id)
                .handle("bob", "lab", "session", id);
        }
        let asked = serving(&host, &[SESSION, OTHER, "third"]);
        for id in ids {
            let result = answer(&host, "ann", own, json!({key: id, "code": "x"}));
            let text = text_of(&result);
            let told: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(told["error"], sentence.replace("{}", id), "{own}");
            assert!(text.is_ascii() && text.starts_with("{\n  \""), "{text}");
        }
        for (arguments, id) in asked.borrow().iter().zip(ids) {
            assert_eq!(arguments["code"], "x");
            assert!(id.is_empty() || arguments[key] != id, "the server never hears of it");
        }
    }
}

#[test]
fn ids_in_place_of_others_have_their_form() {
    let host = Host::new();
    let asked = serving(&host, &[]);
    for id in [OTHER, SESSION, "anything"] {
        answer(&host, "ann", "chem_get_session_info", json!({"session_id": id}));
    }
    answer(&host, "ann", "chem_check_job", json!({"job_id": "j_0123456789ab"}));
    answer(&host, "ann", "chem_check_batch", json!({"batch_id": "b_0123456789ab"}));
    let asked = asked.borrow();
    let id = |place: usize, key: &str| asked[place][key].as_str().unwrap().to_owned();
    assert_eq!(id(0, "session_id").len(), 32);
    for place in [1, 2] {
        let parts: Vec<usize> = id(place, "session_id").split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
    }
    assert!(id(3, "job_id").starts_with("j_") && id(3, "job_id").len() == 14);
    assert!(id(4, "batch_id").starts_with("b_") && id(4, "batch_id").len() == 14);
}

#[test]
fn a_list_holds_the_callers_own_sessions() {
    let host = Host::new();
    host.handle("ann", "lab", "session", SESSION).handle("ann", "lab", "session", "gone");
    serving(&host, &[OTHER, SESSION, "third"]);
    let list = text_of(&answer(&host, "ann", "chem_list_sessions", json!({})));
    let alone = said("chem_list_sessions", &json!({}), &[SESSION.to_owned()]);
    assert_eq!(list, alone, "as if the server had no others");
    let nothing = text_of(&answer(&host, "bob", "chem_list_sessions", json!({})));
    assert_eq!(nothing, said("chem_list_sessions", &json!({}), &[]));
}

#[test]
fn strangers_list_nothing_and_use_what_they_present() {
    let host = Host::new();
    host.handle("nobody", "lab", "session", SESSION);
    serving(&host, &[OTHER, SESSION]);
    let stranger = || plugway_sdk::testing::Caller {
        id: "nobody".to_owned(),
        anonymous: true,
        ..plugway_sdk::testing::Caller::default()
    };
    call_of(&host, "nobody", "chem_list_sessions", json!({}));
    host.as_caller(stranger()).attribute("era", "modern");
    let Reply::Answer(list) = host.run(|| router().answer()).unwrap() else { panic!("refused") };
    assert_eq!(text_of(&list), said("chem_list_sessions", &json!({}), &[]));
    call_of(&host, "nobody", "chem_inspect_session", json!({"session_id": SESSION}));
    host.as_caller(stranger()).attribute("era", "modern");
    let Reply::Answer(told) = host.run(|| router().answer()).unwrap() else { panic!("refused") };
    assert!(text_of(&told).contains("\"success\": true"), "{told}");
}

#[test]
fn an_own_session_is_told_as_the_server_does_and_closed_for_good() {
    let host = Host::new();
    host.handle("ann", "lab", "session", SESSION).handle("ann", "lab", "session", "third");
    let asked = serving(&host, &[OTHER, SESSION, "third"]);
    let own = json!({"session_id": SESSION});
    let all = [OTHER, SESSION, "third"].map(str::to_owned);
    let told = answer(&host, "ann", "chem_inspect_session", own.clone());
    assert_eq!(text_of(&told), said("chem_inspect_session", &own, &all), "untouched");
    let closed: Value =
        serde_json::from_str(&text_of(&answer(&host, "ann", "chem_close_session", own))).unwrap();
    assert_eq!(closed["message"], format!("Session {SESSION} closed successfully"));
    assert_eq!(closed["remaining_sessions"], 1, "her other one");
    assert!(asked.borrow().iter().all(|arguments| arguments["session_id"] == SESSION));
    let left: Vec<_> = host.handles().into_iter().map(|(_, _, id, _)| id).collect();
    assert_eq!(left, ["third"]);
}

#[test]
fn closing_what_is_not_ones_own_closes_nothing() {
    let host = Host::new();
    host.handle("bob", "lab", "session", SESSION);
    let asked = serving(&host, &[SESSION]);
    let closed: Value = serde_json::from_str(&text_of(&answer(
        &host,
        "ann",
        "chem_close_session",
        json!({"session_id": SESSION}),
    )))
    .unwrap();
    assert_eq!(closed["message"], format!("Session {SESSION} closed successfully"));
    assert_eq!(closed["remaining_sessions"], 0);
    assert!(asked.borrow().iter().all(|arguments| arguments["session_id"] != SESSION));
    assert_eq!(host.handles().len(), 1);
}

#[test]
fn a_list_that_cannot_be_read_is_not_shown() {
    let list = python(&json!({"success": true, "count": 1, "sessions": [{"session_id": OTHER}]}));
    for result in [
        json!({"content": [{"type": "text", "text": OTHER}]}),
        json!({"content": [{"type": "image", "data": "x", "mimeType": "image/png"}]}),
        json!({"content": [{"type": "text", "text": list}], "structuredContent": {"sessions": [OTHER]}}),
        json!({"content": [{"type": "text", "text": list}], "structuredContent": {"result": list, "more": OTHER}}),
        json!({"content": [{"type": "text", "text": "{\"success\": false, \"sessions\": 5}"}]}),
        json!({"content": [{"type": "text", "text": "{\"all\": []}"}]}),
    ] {
        let host = Host::new();
        let text = result.to_string();
        host.on_request(move |_, _, _| Ok(text.clone()));
        call_of(&host, "ann", "chem_list_sessions", json!({}));
        let reply = host.run(|| router().answer()).unwrap();
        assert_eq!(reply, Reply::refuse("The sessions of lab cannot be told apart."), "{result}");
    }
    let host = Host::new();
    let refused =
        json!({"content": [{"type": "text", "text": "1 validation error"}], "isError": true});
    let text = refused.to_string();
    host.on_request(move |_, _, _| Ok(text.clone()));
    assert_eq!(answer(&host, "ann", "chem_list_sessions", json!({})), refused.to_string());
}

#[test]
fn errors_of_a_server_stay_errors() {
    let host = Host::new();
    host.on_request(|_, _, params| {
        let params: Value = serde_json::from_str(params).unwrap();
        let id = params["arguments"]["job_id"].as_str().unwrap().to_owned();
        Err(json!({"code": -32000, "message": format!("no {id}")}).to_string())
    });
    call_of(&host, "ann", "chem_check_job", json!({"job_id": "j_1"}));
    let reply = host.run(|| router().answer()).unwrap();
    assert_eq!(reply, Reply::Reject(Rejection::new("no j_1").with_code(-32000)));
    host.on_request(|_, _, _| Err("The server lab is away.".to_owned()));
    let reply = host.run(|| router().answer()).unwrap();
    assert_eq!(reply, Reply::refuse("The server lab is away."));
}
