//! Against real servers on loopback that misbehave as told.

mod abandoned;
mod asks;
mod batches;
mod credentials;
mod headed;
mod lent;
mod life;
mod modern;
mod resume;
mod standing;
mod unasked;
mod variants;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::Request;
use tokio::sync::mpsc;

use super::fixture::{Legacy, connected};
use crate::fault::{Code, Fault};
use crate::pipeline::party::Party;
use crate::pipeline::port::{Answer, Body, Json, Phase, Promise};
use crate::protocol::{Message, Method, Revision};
use crate::upstream::Limits;
use crate::upstream::testing::{
    Reply, Rig, http, json, order, party, reply, serve, soon, streamed, text,
};

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":"c-1","method":"tools/call","params":{"name":"t","arguments":{}}}"#;

/// The URL of a server that answers so.
async fn serving(respond: impl Fn(&Request<Bytes>) -> Reply + Send + Sync + 'static) -> String {
    let handler = move |request: Request<Bytes>| {
        let answer = respond(&request);
        Box::pin(std::future::ready(answer)) as std::pin::Pin<Box<_>>
    };
    serve(handler).await.0
}

/// plugway before such a server.
async fn answering(respond: impl Fn(&Request<Bytes>) -> Reply + Send + Sync + 'static) -> Rig {
    let rig = http(&serving(respond).await, Limits::default());
    rig.until(Phase::Connected).await;
    rig
}

/// What became of a call of a legacy client.
async fn called(server: &Legacy, revision: Revision, limits: Limits) -> Result<String, Code> {
    let rig = http(&server.serve().await, limits);
    rig.until(Phase::Connected).await;
    let answer = rig.call(&party(1, revision, false), CALL).await;
    let text = match answer {
        Ok(answer) => text(answer).await,
        Err(fault) => Err(fault),
    };
    rig.end().await;
    text.map_err(|fault| fault.code())
}

#[tokio::test]
async fn the_catalogue_is_read_to_the_last_page() {
    let server = Legacy { pages: 7, ..Legacy::echo() };
    let rig = connected(&server).await;
    let offering = rig.until(Phase::Connected).await.offering.clone().unwrap();
    assert_eq!(offering.tools.len(), 7);
    assert_eq!(&*offering.tools[6], r#"{"name":"t6"}"#);
    assert_eq!(&*offering.server_name, "demo server");
    assert!(offering.prompts.is_empty());
    rig.end().await;
    server.ended.reaches(1).await;
}

#[tokio::test]
async fn four_first_calls_open_one_session_and_leaving_ends_it() {
    let server = Legacy::echo();
    let rig = connected(&server).await;
    let somebody = party(1, Revision::V2025_06_18, false);
    let calls = (0..4).map(|_| rig.call(&somebody, CALL));
    for answer in join_all(calls).await {
        let answer = answer.unwrap();
        assert!(is_whole(&answer));
        assert_eq!(
            text(answer).await.unwrap(),
            r#"{"jsonrpc":"2.0","id":"c-1","result":{"content":[]}}"#
        );
    }
    assert_eq!(server.opened.get(), 2, "plugway's own, and one");
    rig.call(&party(2, Revision::V2025_06_18, false), CALL).await.unwrap();
    assert_eq!(server.opened.get(), 3);
    soon(rig.upstream.leave(somebody.id)).await;
    assert_eq!(server.ended.get(), 1);
    rig.end().await;
    server.ended.reaches(3).await;
}

#[tokio::test]
async fn a_forgotten_session_is_opened_again_once() {
    let server = Legacy::echo();
    let rig = connected(&server).await;
    let somebody = party(1, Revision::V2025_06_18, false);
    rig.call(&somebody, CALL).await.unwrap();
    server.forgets.store(1, Ordering::SeqCst);
    rig.call(&somebody, CALL).await.unwrap();
    assert_eq!(server.opened.get(), 3);
    server.forgets.store(2, Ordering::SeqCst);
    let fault = rig.call(&somebody, CALL).await.unwrap_err();
    assert_eq!(fault.code(), Code::UpstreamBroken);
    rig.end().await;
}

#[tokio::test]
async fn strangers_never_share_a_session() {
    let server = Legacy::echo();
    let rig = connected(&server).await;
    let strangers = party(1, Revision::V2026_07_28, true);
    for _ in 0..2 {
        rig.call(&strangers, CALL).await.unwrap();
    }
    assert_eq!(server.opened.get(), 3);
    server.ended.reaches(2).await;
    let known = party(2, Revision::V2026_07_28, false);
    for _ in 0..2 {
        rig.call(&known, CALL).await.unwrap();
    }
    assert_eq!(server.opened.get(), 4);
    rig.end().await;
}

#[tokio::test]
async fn a_modern_client_that_goes_away_cancels_in_its_legacy_session() {
    let (keep, held) = std::sync::mpsc::sync_channel(8);
    let server = Legacy::new(move |_| {
        let (send, pieces) = mpsc::channel(1);
        keep.send(send).unwrap();
        streamed("text/event-stream", pieces)
    });
    let rig = connected(&server).await;
    let known = party(1, Revision::V2026_07_28, false);
    let wait = held_call(&rig, &known, &held);
    drop(wait.await);
    server.cancelled.reaches(1).await;
    let legacy = party(2, Revision::V2025_11_25, false);
    drop(held_call(&rig, &legacy, &held).await);
    drop(held);
    rig.end().await;
    assert_eq!(server.cancelled.get(), 1, "a legacy client cancels in words");
}

/// A call that the server has begun to work on.
async fn held_call<'a>(
    rig: &'a Rig,
    party: &'a Arc<Party>,
    held: &std::sync::mpsc::Receiver<mpsc::Sender<Bytes>>,
) -> (Promise<'a, Result<Answer, Fault>>, mpsc::Sender<Bytes>) {
    let mut call = rig.upstream.exchange(order(party, CALL));
    let begun = async {
        loop {
            assert!(futures_util::poll!(&mut call).is_pending());
            match held.try_recv() {
                Ok(sender) => return sender,
                Err(_not_yet) => tokio::task::yield_now().await,
            }
        }
    };
    let sender = soon(begun).await;
    (call, sender)
}

#[tokio::test]
async fn what_is_not_mcp_is_a_fault_that_names_the_server() {
    for (status, kind, body, code) in [
        (200, "text/html", "<p>", Code::UpstreamBroken),
        (202, "text/plain", "", Code::UpstreamBroken),
        (302, "text/plain", "", Code::UpstreamBroken),
        (405, "text/plain", "", Code::UpstreamBroken),
        (500, "application/json", "{}", Code::UpstreamBroken),
        (401, "application/json", "{}", Code::UpstreamRefusedCredential),
        (403, "text/plain", "", Code::UpstreamRefusedCredential),
        (429, "text/plain", "", Code::UpstreamBusy),
        (200, "text/event-stream", ": nothing\n\n", Code::UpstreamBroken),
        (200, "text/event-stream", "data: {\"jsonrpc\"\n\n", Code::UpstreamBroken),
    ] {
        let rig = connected(&Legacy::new(move |_| reply(status, kind, body))).await;
        let fault = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap_err();
        assert_eq!(fault.code(), code, "{status} {kind}");
        assert!(fault.public().contains("\"demo\""), "{}", fault.public());
        rig.end().await;
    }
}

#[tokio::test]
async fn an_error_of_json_rpc_is_the_answer() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no such tool"}}"#;
    let rig = connected(&Legacy::new(move |_| reply(400, "application/json", error))).await;
    let answer = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap();
    assert_eq!(text(answer).await.unwrap(), error.replace("null", "\"c-1\""));
    rig.end().await;
}

fn is_whole(answer: &Answer) -> bool {
    matches!(answer, Answer::Json(Json { body: Body::Whole(_), .. }))
}

#[tokio::test]
async fn events_are_framed_anew_and_end_with_the_response() {
    let stream = concat!(
        "id: e1\nretry: 5\ndata:\n\n",
        "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"sampling/createMessage\"}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":\"other\",\"result\":{}}\n\n",
        "id: e3\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":\"c-1\",\"result\":{}}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"late\"}\n\n",
    );
    let rig = connected(&Legacy::new(move |message| match message.method() {
        Method::ToolsCall => reply(200, "text/event-stream; charset=utf-8", stream),
        _ => reply(202, "text/plain", ""),
    }))
    .await;
    let answer = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap();
    assert!(matches!(answer, Answer::Messages(_)));
    let want = concat!(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\n\"id\":\"c-1\",\"result\":{}}\n",
    );
    assert_eq!(text(answer).await.unwrap(), want);
    rig.end().await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_ends_in_a_fault() {
    let note = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n";
    let rig = connected(&Legacy::new(move |_| reply(200, "text/event-stream", note))).await;
    let answer = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap();
    assert_eq!(text(answer).await.unwrap_err().code(), Code::UpstreamBroken);
    rig.end().await;
}

#[tokio::test]
async fn large_answers_stream_and_small_chunked_ones_do_not() {
    let large = format!(r#"{{"jsonrpc":"2.0","id":"c-1","result":"{}"}}"#, "x".repeat(300_000));
    let body = large.clone();
    let rig = connected(&Legacy::new(move |_| json(body.clone()))).await;
    let answer = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap();
    let length = match &answer {
        Answer::Json(Json { body: Body::Stream(_, length), .. }) => *length,
        other => panic!("{other:?}"),
    };
    assert_eq!(length, Some(large.len() as u64));
    assert_eq!(text(answer).await.unwrap(), large);
    rig.end().await;

    let rig = connected(&Legacy::new(|_| {
        let (send, pieces) = mpsc::channel(2);
        send.try_send(Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":")).unwrap();
        send.try_send(Bytes::from_static(b"\"c-1\",\"result\":{}}")).unwrap();
        streamed("application/json", pieces)
    }))
    .await;
    let answer = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap();
    assert!(is_whole(&answer));
    let whole = r#"{"jsonrpc":"2.0","id":"c-1","result":{}}"#;
    assert_eq!(text(answer).await.unwrap(), whole);
    rig.end().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_a_timeout() {
    let limits = Limits { call: Duration::from_millis(50), ..Limits::default() };
    let (keep, held) = std::sync::mpsc::sync_channel(8);
    let server = Legacy::new(move |_| {
        let (send, pieces) = mpsc::channel(1);
        keep.send(send).unwrap();
        streamed("text/event-stream", pieces)
    });
    let rig = http(&server.serve().await, limits);
    rig.until(Phase::Connected).await;
    let fault = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap_err();
    assert_eq!(fault.code(), Code::UpstreamTimeout);
    server.cancelled.reaches(1).await;
    drop(held);
    rig.end().await;
}

#[tokio::test]
async fn a_dead_server_is_reported_and_found_when_it_comes() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let rig = http(&url, Limits::default());
    let mut watch = rig.upstream.watch();
    let seen = soon(watch.wait_for(|snapshot| snapshot.attempt > 0)).await.unwrap().clone();
    assert_eq!(seen.phase, Phase::Disconnected);
    assert!(seen.next_attempt.is_some() && seen.reason.is_some());
    let fault = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap_err();
    assert_eq!(fault.code(), Code::UpstreamUnavailable);
    let fault = rig.call(&party(2, Revision::V2026_07_28, true), CALL).await.unwrap_err();
    assert!(matches!(fault.code(), Code::UpstreamUnavailable | Code::UpstreamTimeout));
    rig.end().await;
}

#[tokio::test]
async fn a_silent_server_delays_nobody_and_an_abandoned_call_leaves_nothing() {
    let (url, _server) = serve(|_| Box::pin(std::future::pending())).await;
    let silent = http(&url, Limits { open: Duration::from_millis(300), ..Limits::default() });
    let server = Legacy::echo();
    let rig = connected(&server).await;
    rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap();
    assert_eq!(silent.upstream.watch().borrow().phase, Phase::Disconnected);
    {
        let stranger = party(3, Revision::V2025_11_25, false);
        let mut call = silent.upstream.exchange(order(&stranger, CALL));
        assert!(futures_util::poll!(&mut call).is_pending());
    }
    silent.end().await;
    rig.end().await;
}

#[tokio::test]
async fn the_modern_era_is_mirrored_and_translated() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let requests = Arc::clone(&seen);
    let (url, _server) = serve(move |request: Request<Bytes>| {
        let message = Message::parse(request.body().clone()).unwrap();
        let id = message.id().map(|id| id.as_json().to_owned()).unwrap_or_default();
        requests.lock().unwrap().push(request);
        let result = match message.method() {
            Method::Initialize => {
                let error = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"x","data":{{"supported":["2026-07-28"]}}}}}}"#);
                return Box::pin(std::future::ready(reply(400, "application/json", error)));
            }
            Method::Discover => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}}"#,
            Method::ToolsList => r#"{"tools":[{"name":"t"}]}"#,
            _ => "{}",
        };
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        Box::pin(std::future::ready(json(text)))
    })
    .await;
    let rig = http(&url, Limits::default());
    let offering = rig.until(Phase::Connected).await.offering.clone().unwrap();
    assert_eq!((offering.revision, &*offering.server_name), (Some(Revision::NEWEST), "m"));

    let mut modern = order(&party(1, Revision::NEWEST, true), CALL);
    modern.name = Some("t\u{e4}".into());
    soon(rig.upstream.exchange(modern)).await.unwrap();
    rig.call(&party(2, Revision::V2025_06_18, false), CALL).await.unwrap();
    rig.call(&party(2, Revision::V2025_06_18, false), CALL).await.unwrap();
    {
        let seen = seen.lock().unwrap();
        let calls: Vec<_> = seen
            .iter()
            .filter(|request| {
                request.headers().get("mcp-method").is_some_and(|m| m == "tools/call")
            })
            .collect();
        assert_eq!(calls.len(), 3);
        assert_eq!(calls[0].headers()["mcp-name"], "=?base64?dMOk?=");
        assert_eq!(calls[0].headers()["mcp-protocol-version"], "2026-07-28");
        assert!(calls.iter().all(|call| !call.headers().contains_key("mcp-session-id")));
        let translated = std::str::from_utf8(calls[2].body()).unwrap();
        assert!(translated.contains("client-2") && !translated.contains("roots"), "{translated}");
        let asked = seen.iter().filter(|request| !request.headers().contains_key("mcp-method"));
        assert_eq!(asked.count(), 1, "initialize was tried once");
    }
    rig.end().await;
}
