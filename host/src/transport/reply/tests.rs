//! What every fault is over HTTP and in JSON-RPC, in both eras.

use std::time::Duration;

use http::StatusCode;
use proptest::prelude::*;
use serde_json::Value;

use super::{Asked, ReplyBody, fault, fault_body, fault_text};
use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;
use crate::protocol::{Era, Id, Method};

/// Status for the legacy era, status for the modern era, JSON-RPC code.
fn expected(code: Code) -> (u16, u16, i64) {
    match code {
        Code::ParseError => (400, 400, -32700),
        Code::InvalidRequest
        | Code::SessionMissing
        | Code::StreamUnknown
        | Code::DuplicateId
        | Code::BadHeader => (400, 400, -32600),
        Code::UnknownMethod => (200, 404, -32601),
        Code::InvalidParams | Code::UnknownName => (200, 200, -32602),
        Code::NotLoaded | Code::BadArguments | Code::NameTaken => (200, 200, -32600),
        Code::MissingMeta => (400, 400, -32602),
        Code::BodyTooLarge => (413, 413, -32600),
        Code::UnsupportedMediaType => (415, 415, -32600),
        Code::NotAcceptable => (406, 406, -32600),
        Code::SessionUnknown | Code::UnknownPath => (404, 404, -32600),
        Code::HeaderMismatch => (400, 400, -32020),
        Code::MissingCapability => (400, 400, -32021),
        Code::UnsupportedVersion => (400, 400, -32022),
        Code::ForbiddenOrigin | Code::Forbidden => (403, 403, -32600),
        Code::Unauthenticated => (401, 401, -32600),
        Code::MethodNotAllowed => (405, 405, -32600),
        Code::BodyTimeout => (408, 408, -32600),
        Code::Overloaded | Code::ShuttingDown | Code::AuditUnavailable => (503, 503, -32603),
        _ => (200, 200, -32603),
    }
}

fn asked(era: Era, method: Method, id: Option<&Id>) -> Asked<'_> {
    Asked { request_id: RequestId::next(), era, method, id }
}

fn body(reply: &super::Reply) -> Value {
    match reply.body() {
        ReplyBody::Whole(Some(bytes)) => serde_json::from_slice(bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_fault_has_its_status_and_its_code_in_each_era() {
    let id = Id::number(7);
    for &code in Code::ALL {
        let (legacy, modern, rpc) = expected(code);
        for (era, status) in [(Era::Legacy, legacy), (Era::Modern, modern)] {
            let reply = fault(&Fault::new(code, "Text."), asked(era, Method::Ping, Some(&id)));
            assert_eq!(reply.status().as_u16(), status, "{code:?} {era:?}");
            let body = body(&reply);
            assert_eq!(body["error"]["code"], rpc, "{code:?}");
            assert_eq!(body["error"]["data"]["code"], code.as_str());
            assert_eq!(body["id"], 7);
        }
    }
}

#[test]
fn what_stopped_a_tool_is_a_result_that_the_agent_reads() {
    let id = Id::number(7);
    for &code in Code::ALL {
        let own = [
            Code::Refused,
            Code::NotLoaded,
            Code::BadArguments,
            Code::NotConfirmed,
            Code::ConfirmationTimeout,
            Code::CannotConfirm,
        ];
        let readable = code.as_str().starts_with("upstream-") || own.contains(&code);
        let text = fault_body(
            &Fault::new(code, "Text."),
            asked(Era::Legacy, Method::ToolsCall, Some(&id)),
        );
        let body: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(body["result"]["isError"].as_bool(), readable.then_some(true), "{code:?}");
    }
    let chosen = Fault::new(Code::Refused, "Text.").with_rpc_code(-1);
    let text = fault_body(&chosen, asked(Era::Legacy, Method::ToolsCall, Some(&id)));
    assert_eq!(serde_json::from_slice::<Value>(&text).unwrap()["error"]["code"], -1);
}

#[test]
fn waits_and_allowed_methods_stand_in_headers() {
    let late = Fault::new(Code::Overloaded, "Later.").retry_after(Duration::from_millis(10));
    let reply = fault(&late, Asked::unknown(RequestId::next()));
    assert_eq!(reply.headers()["retry-after"], "1");
    assert_eq!(body(&reply)["id"], Value::Null);
    let reply =
        fault(&Fault::new(Code::MethodNotAllowed, "No."), Asked::unknown(RequestId::next()));
    assert_eq!(reply.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(reply.headers()["allow"], "GET, POST, DELETE");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_text_of_a_fault_is_json_with_the_id(
        text in any::<String>(),
        id in prop_oneof![any::<String>().prop_map(Value::from), any::<i64>().prop_map(Value::from)],
        data in prop::option::of(prop::sample::select(vec![r#"{"a":[1]}"#, "{}"])),
        place in 0..Code::ALL.len(),
    ) {
        let mut fault = Fault::new(Code::ALL[place], text.clone());
        if let Some(data) = data {
            fault = fault.with_data(data);
        }
        let request_id = RequestId::next();
        let parsed = Id::parse(&id.to_string()).unwrap();
        let body: Value = serde_json::from_slice(&fault_text(&fault, Some(&parsed), request_id)).unwrap();
        prop_assert_eq!(&body["id"], &id);
        prop_assert_eq!(&body["jsonrpc"], "2.0");
        prop_assert_eq!(&body["error"]["message"], &text);
        prop_assert_eq!(&body["error"]["data"]["requestId"], &request_id.to_string());
        if data == Some(r#"{"a":[1]}"#) {
            prop_assert_eq!(&body["error"]["data"]["a"][0], 1);
        }
    }
}
