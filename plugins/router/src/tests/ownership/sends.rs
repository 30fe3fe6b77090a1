//! To whose session an object goes.

use std::cell::RefCell;
use std::rc::Rc;

use plugway_sdk::prelude::*;
use plugway_sdk::testing::Host;
use serde_json::{Value, json};

use super::{OTHER, SESSION, call_of, python, router, wrapped};
use crate::ownership::send::GUARDED;

const FOREIGN: &str = "11111111-2222-4333-a444-555555555555";

/// A connector with two code servers, `chem` as `lab` and `gis` as `map`, and one behind another connector, `bio`.
fn host() -> Host {
    let host = Host::new();
    host.handle("ann", "map", "session", SESSION)
        .handle("ann", "lab", "session", OTHER)
        .handle("bob", "map", "session", FOREIGN);
    host
}

fn sends(host: &Host, caller: &str, arguments: Value) {
    let tools = json!([
        ["lab", "execute_chem_code"],
        ["lab", "chem_send"],
        ["map", "execute_gis_code"],
        ["map", "gis_send"],
        ["below", "x_bio_send"],
        ["sea", "ocean_send"],
        ["bio", "other_send"],
    ]);
    call_of(host, caller, "chem_send", arguments);
    host.attribute(GUARDED, &tools.to_string());
}

/// The server answers with this what becomes of a session. Keeps the arguments that it was called with.
fn serving(
    host: &Host,
    answer: impl Fn(&str) -> Result<Value, String> + 'static,
) -> Rc<RefCell<Vec<Value>>> {
    let asked: Rc<RefCell<Vec<Value>>> = Rc::default();
    let seen = asked.clone();
    host.random(7).on_request(move |upstream, _, params| {
        let params: Value = serde_json::from_str(params).unwrap();
        assert_eq!((upstream, &params["name"]), ("lab", &json!("chem_send")));
        seen.borrow_mut().push(params["arguments"].clone());
        answer(params["arguments"]["session_id"].as_str().unwrap())
            .map(|said| wrapped(&python(&said)).to_string())
    });
    asked
}

fn not_found(id: &str) -> Value {
    let error = format!("Object transfer to 'gis' failed: Session '{id}' not found");
    json!({"error": error, "status_code": 404, "success": false})
}

fn routed(host: &Host) -> Route {
    host.run(|| router().route()).unwrap()
}

fn answered(host: &Host) -> Value {
    let Reply::Answer(result) = host.run(|| router().answer()).unwrap() else { panic!("refused") };
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["content"][0]["text"], result["structuredContent"]["result"]);
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn without_an_id_an_object_goes_to_a_session_of_the_caller() {
    let host = host();
    let asked = serving(&host, |id| Ok(json!({"success": true, "remote_uri": id})));
    for arguments in [
        json!({"data_ref": "x", "to": "gis"}),
        json!({"to": "gis", "session_id": null}),
        json!({"session_id": "", "to": "gis", "data_ref": "x"}),
        // The configured name, where no server calls itself so.
        json!({"to": "map", "data_ref": "x"}),
    ] {
        sends(&host, "ann", arguments.clone());
        assert_eq!(routed(&host), Route::Answer, "{arguments}");
        assert_eq!(answered(&host), json!({"success": true, "remote_uri": SESSION}));
        let given = asked.borrow_mut().pop().unwrap();
        assert_eq!(given["session_id"], SESSION, "{given}");
        let mut rest = given;
        rest["session_id"] = arguments["session_id"].clone();
        if arguments.get("session_id").is_none() {
            rest.as_object_mut().unwrap().remove("session_id");
        }
        assert_eq!(rest, arguments, "all else stays");
    }
}

#[test]
fn without_a_session_there_it_goes_nowhere_and_the_caller_hears_what_to_do() {
    // Nobody of these has a session there; ann has none at a server that no upstream is.
    for (caller, to) in
        [("cat", "gis"), ("ann", "bio"), ("ann", "ocean"), ("ann", "mars"), ("ann", "")]
    {
        let host = host();
        let asked = serving(&host, |id| Ok(not_found(id)));
        sends(&host, caller, json!({"data_ref": "x", "to": to}));
        let said = answered(&host);
        let wanted = format!(
            "Object transfer to '{to}' failed: no session of yours is known there. Run code there first, or name a session as session_id."
        );
        assert_eq!(said, json!({"error": wanted, "status_code": 404, "success": false}));
        let id = asked.borrow()[0]["session_id"].as_str().unwrap().to_owned();
        assert!(id.len() == 36 && ![SESSION, OTHER, FOREIGN].contains(&&*id), "{id}");
    }
}

#[test]
fn what_needs_no_session_is_answered_as_the_server_does() {
    let host = host();
    for said in [
        json!({"success": true, "destination": "user", "remote_uri": "/artifacts/a/b/x.csv"}),
        json!({"success": false, "error": "Unknown destination 'user'."}),
    ] {
        let text = said.clone();
        serving(&host, move |_| Ok(text.clone()));
        sends(&host, "ann", json!({"data_ref": "x.csv", "to": "user"}));
        assert_eq!(answered(&host), said);
    }
    serving(&host, |id| Err(json!({"code": -32000, "message": format!("no {id}")}).to_string()));
    let reply = host.run(|| router().answer()).unwrap();
    let Reply::Reject(rejection) = reply else { panic!("{reply:?}") };
    assert!(rejection.message.contains("no session of yours"), "{rejection:?}");
    assert_eq!(rejection.code, Some(-32000));
}

#[test]
fn an_id_has_to_be_of_the_server_that_is_sent_to() {
    let host = host();
    host.handle("ann", "below", "session", "of bio").handle("ann", "elsewhere", "session", "e");
    let goes = Route::to("lab", "chem_send");
    for (caller, to, id, wanted) in [
        ("ann", "gis", SESSION, goes.clone()),
        ("ann", "gis", OTHER, Route::Answer),
        ("ann", "gis", FOREIGN, Route::Answer),
        ("bob", "gis", SESSION, Route::Answer),
        ("bob", "gis", FOREIGN, goes.clone()),
        // Behind another connector, whose configured name says nothing.
        ("ann", "bio", "of bio", goes.clone()),
        ("ann", "bio", SESSION, Route::Answer),
        // A server that nobody knows: the id is the caller's, wherever that is.
        ("ann", "mars", "e", goes),
        ("ann", "mars", FOREIGN, Route::Answer),
    ] {
        sends(&host, caller, json!({"data_ref": "x", "to": to, "session_id": id}));
        assert_eq!(routed(&host), wanted, "{caller} {to} {id}");
    }
    let asked = serving(&host, |id| Ok(not_found(id)));
    sends(&host, "ann", json!({"to": "gis", "session_id": FOREIGN}));
    assert_eq!(answered(&host), not_found(FOREIGN));
    assert_ne!(asked.borrow()[0]["session_id"], FOREIGN);
}
