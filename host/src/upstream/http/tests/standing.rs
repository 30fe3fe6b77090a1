//! What a session wants for as long as it lives: it is told to the server again that lost the session.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::super::fixture::{Legacy, connected};
use crate::pipeline::Level;
use crate::protocol::{Message, Method, Revision};
use crate::upstream::testing::{Rig, json, leveled, party, soon, text};

const CALL: &str = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t"}}"#;

/// A server that keeps the params of subscriptions and levels, and refuses some.
fn server() -> (Legacy, Arc<Mutex<Vec<String>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&told);
    let server = Legacy::new(move |message: &Message| {
        let (id, params) = (message.id().unwrap(), message.params().unwrap());
        if message.method() != Method::ToolsCall {
            keep.lock().unwrap().push(format!("{} {params}", message.method_name()));
        }
        if params.contains("refused") {
            return json(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"no"}}}}"#
            ));
        }
        json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
    });
    (server, told)
}

fn about(method: &str, uri: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"resources/{method}","params":{{"uri":"{uri}"}}}}"#
    )
}

async fn ask(rig: &Rig, party: &Arc<crate::pipeline::party::Party>, request: &str) -> Message {
    let answer = rig.call(party, request).await.unwrap();
    Message::parse(Bytes::from(text(answer).await.unwrap())).unwrap()
}

#[tokio::test]
async fn a_lost_session_is_opened_again_with_its_subscriptions_and_its_level() {
    let (server, told) = server();
    let rig = connected(&server).await;
    let (somebody, level) = leveled(1, Revision::V2025_11_25);
    for (method, uri) in [
        ("subscribe", "kept"),
        ("subscribe", "refused"),
        ("subscribe", "given-up"),
        ("unsubscribe", "given-up"),
    ] {
        let answer = ask(&rig, &somebody, &about(method, uri)).await;
        assert_eq!(answer.error().is_some(), uri == "refused");
    }
    level.set(Level::Warning);
    soon(rig.upstream.set_level(somebody.id, Level::Warning)).await;
    told.lock().unwrap().clear();

    server.oldest.store(server.opened.get() + 1, Ordering::SeqCst);
    let calls = (0..4).map(|_| ask(&rig, &somebody, CALL));
    for answer in futures_util::future::join_all(calls).await {
        assert!(answer.result().is_some());
    }
    let mut seen = told.lock().unwrap().clone();
    seen.sort();
    let expected =
        [r#"logging/setLevel {"level":"warning"}"#, r#"resources/subscribe {"uri":"kept"}"#];
    assert_eq!(seen, expected, "once, however many calls met the loss");
    soon(rig.upstream.leave(somebody.id)).await;
    rig.end().await;
}

#[tokio::test]
async fn a_level_is_told_to_a_session_that_is_opened_later_and_once() {
    let (server, told) = server();
    let rig = connected(&server).await;
    let (somebody, level) = leveled(1, Revision::V2025_11_25);
    level.set(Level::Error);
    soon(rig.upstream.set_level(somebody.id, Level::Error)).await;
    assert!(told.lock().unwrap().is_empty(), "nothing is opened for it");
    for _ in 0..3 {
        ask(&rig, &somebody, CALL).await;
    }
    assert_eq!(*told.lock().unwrap(), [r#"logging/setLevel {"level":"error"}"#]);
    let never = party(2, Revision::V2025_11_25, false);
    ask(&rig, &never, CALL).await;
    assert_eq!(told.lock().unwrap().len(), 1, "who never asked for a level sets none");
    rig.end().await;
}

#[tokio::test]
async fn a_modern_request_with_a_level_makes_the_session_more_talkative_and_never_less() {
    let (server, told) = server();
    let rig = connected(&server).await;
    let somebody = party(1, Revision::V2026_07_28, false);
    for level in ["error", "debug", "error", "debug"] {
        let call = CALL.replace(
            r#""name""#,
            &format!(r#""_meta":{{"io.modelcontextprotocol/logLevel":"{level}"}},"name""#),
        );
        ask(&rig, &somebody, &call).await;
    }
    let expected =
        ["error", "debug"].map(|level| format!(r#"logging/setLevel {{"level":"{level}"}}"#));
    assert_eq!(*told.lock().unwrap(), expected);
    rig.end().await;
}
