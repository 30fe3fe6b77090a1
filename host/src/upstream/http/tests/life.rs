//! The life of an upstream over HTTP: how it is watched, read again, left alone and brought back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::mpsc;

use super::super::fixture::{Legacy, connected};
use super::CALL;
use crate::fault::Code;
use crate::pipeline::port::{Control, Phase, Snapshot};
use crate::protocol::Revision;
use crate::upstream::Limits;
use crate::upstream::testing::{Rig, http, json, party, reply, soon, streamed};

/// Checks follow each other as fast as they can.
fn hasty() -> Limits {
    Limits {
        check: Duration::from_millis(1),
        retry_first: Duration::from_millis(1),
        retry: Duration::from_millis(1),
        retry_max: Duration::from_millis(2),
        ..Limits::default()
    }
}

async fn under(server: &Legacy, limits: Limits) -> Rig {
    let rig = http(&server.serve().await, limits);
    rig.until(Phase::Connected).await;
    rig
}

async fn seen(rig: &Rig, wanted: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let mut watch = rig.upstream.watch();
    let found = soon(watch.wait_for(|snapshot| wanted(snapshot))).await.unwrap();
    Arc::clone(&found)
}

fn first_tool(snapshot: &Snapshot) -> String {
    snapshot.offering.as_ref().unwrap().tools[0].to_string()
}

/// Public reports: proxies that open a session for every health check until the server has no more.
#[tokio::test]
async fn a_thousand_checks_open_no_session() {
    let server = Legacy::echo();
    let rig = under(&server, hasty()).await;
    server.pings.reaches(1_000).await;
    assert_eq!(server.healths.get(), 1, "it has no /health, which is remembered");
    assert_eq!(server.opened.get(), 1);
    rig.end().await;

    // The status for methods that do not exist is the one for sessions that do not.
    let server = Legacy { knows_ping: false, ..Legacy::echo() };
    let rig = under(&server, hasty()).await;
    server.pings.reaches(100).await;
    assert_eq!((server.opened.get(), server.lists.get()), (1, 1));
    rig.end().await;

    let server = Legacy::echo();
    server.health.store(200, Ordering::SeqCst);
    let rig = under(&server, hasty()).await;
    server.healths.reaches(1_000).await;
    assert_eq!((server.pings.get(), server.opened.get()), (0, 1));
    rig.end().await;
}

#[tokio::test]
async fn a_server_that_says_it_is_not_well_is_away_and_opens_no_session_until_it_is() {
    let server = Legacy::echo();
    server.health.store(200, Ordering::SeqCst);
    let rig = under(&server, hasty()).await;
    server.healths.reaches(1).await;
    server.health.store(503, Ordering::SeqCst);
    let away = rig.until(Phase::Reconnecting).await;
    assert!(away.reason.as_ref().unwrap().contains("/health"), "{:?}", away.reason);
    assert!(away.offering.is_some(), "what it offered stays known");
    seen(&rig, |snapshot| snapshot.attempt > 20).await;
    assert_eq!(server.opened.get(), 1, "no session for an attempt that cannot succeed");
    server.health.store(200, Ordering::SeqCst);
    let back = rig.until(Phase::Connected).await;
    assert!(Arc::ptr_eq(away.offering.as_ref().unwrap(), back.offering.as_ref().unwrap()));
    assert_eq!(server.opened.get(), 2);
    rig.end().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_away() {
    let server = Legacy::echo();
    let limits = Limits { check_timeout: Duration::from_millis(40), ..hasty() };
    let rig = under(&server, limits).await;
    server.pings.reaches(1).await;
    server.health.store(0, Ordering::SeqCst);
    rig.until(Phase::Reconnecting).await;
    server.health.store(404, Ordering::SeqCst);
    rig.until(Phase::Connected).await;
    rig.end().await;
}

#[tokio::test]
async fn a_server_that_answers_other_questions_is_away() {
    let server = Legacy::echo();
    let rig = under(&server, hasty()).await;
    server.pings.reaches(1).await;
    server.confuses.store(true, Ordering::SeqCst);
    rig.until(Phase::Reconnecting).await;
    server.confuses.store(false, Ordering::SeqCst);
    rig.until(Phase::Connected).await;
    rig.end().await;
}

#[tokio::test]
async fn it_takes_several_failed_checks_and_several_good_ones() {
    let server = Legacy::echo();
    server.health.store(200, Ordering::SeqCst);
    let limits = Limits { down_after: 3, up_after: 4, ..hasty() };
    let rig = under(&server, limits).await;
    server.healths.reaches(1).await;
    let before = server.healths.get();
    server.health.store(500, Ordering::SeqCst);
    rig.until(Phase::Reconnecting).await;
    assert!(server.healths.get() >= before + 3);
    server.health.store(200, Ordering::SeqCst);
    let before = server.healths.get();
    rig.until(Phase::Connected).await;
    assert!(server.healths.get() >= before + 4, "before the connect, and three more");
    rig.end().await;
}

/// optimikelabs/optimike-obsidian-mcp #72: 503 for 15 of 16 calls at once must neither rotate the session nor disturb the
/// call that is answered; and nothing that may have been done is done again.
#[tokio::test]
async fn refusals_of_other_calls_do_not_rotate_the_session() {
    let server = Legacy::new(|message| {
        if message.params().is_some_and(|params| params.contains("good")) {
            json(r#"{"jsonrpc":"2.0","id":"c-1","result":{"content":[]}}"#)
        } else {
            reply(503, "text/plain", "busy")
        }
    });
    let rig = connected(&server).await;
    let somebody = party(1, Revision::V2025_11_25, false);
    let good = CALL.replace("\"t\"", "\"good\"");
    rig.call(&somebody, &good).await.unwrap();
    let calls = (0..16).map(|number| rig.call(&somebody, if number == 7 { &good } else { CALL }));
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert!(answers.into_iter().filter_map(Result::err).all(|f| f.code() == Code::UpstreamBroken));
    // What the failures caused is a look over plugway's own session.
    server.pings.reaches(1).await;
    rig.call(&somebody, &good).await.unwrap();
    assert_eq!(server.opened.get(), 2, "plugway's own, and the caller's");
    let calls = server.seen.lock().unwrap().iter().filter(|(what, _)| what == "tools/call").count();
    assert_eq!(calls, 18, "nothing was sent twice");
    assert_eq!(rig.upstream.watch().borrow().phase, Phase::Connected);
    rig.end().await;
}

/// agentgateway #3622, sparfenyuk/mcp-proxy #149, 1mcp-app/agent #414: a restarted server knows no session any more.
#[tokio::test]
async fn a_restarted_server_is_initialised_again_and_nobody_notices() {
    let server = Legacy::echo();
    let rig = connected(&server).await;
    let clients: Vec<_> = (1..4).map(|id| party(id, Revision::V2025_11_25, false)).collect();
    for client in &clients {
        rig.call(client, CALL).await.unwrap();
    }
    assert_eq!(server.opened.get(), 4);
    // Everything so far is forgotten, and the tools are others.
    server.version.store(2, Ordering::SeqCst);
    server.oldest.store(5, Ordering::SeqCst);
    for client in &clients {
        rig.call(client, CALL).await.unwrap();
    }
    // The keeper found out through the calls: it has a new session of its own, and read again.
    let now = seen(&rig, |snapshot| first_tool(snapshot).contains("v2")).await;
    assert_eq!((now.phase, now.attempt), (Phase::Connected, 0));
    assert_eq!(server.opened.get(), 8);
    rig.end().await;
}

#[tokio::test]
async fn a_session_that_is_denied_with_400_is_opened_again() {
    let denials = Arc::new(std::sync::atomic::AtomicUsize::new(1));
    let left = Arc::clone(&denials);
    let server = Legacy::new(move |_| {
        let denied = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if denied.is_err() {
            return json(r#"{"jsonrpc":"2.0","id":"c-1","result":{}}"#);
        }
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
        reply(400, "application/json", error)
    });
    let rig = connected(&server).await;
    rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap();
    assert_eq!(server.opened.get(), 3);
    rig.end().await;
}

#[tokio::test]
async fn the_same_catalogue_read_again_changes_nothing_and_another_one_does() {
    let server = Legacy::echo();
    let limits = Limits { refresh: Duration::from_millis(1), ..Limits::default() };
    let rig = under(&server, limits).await;
    let first = rig.upstream.watch().borrow().offering.clone().unwrap();
    server.lists.reaches(5).await;
    let known = rig.upstream.watch().borrow().offering.clone().unwrap();
    assert!(Arc::ptr_eq(&first, &known), "the same catalogue");
    server.version.store(1, Ordering::SeqCst);
    let other = seen(&rig, |snapshot| first_tool(snapshot).contains("v1")).await;
    assert_eq!(other.phase, Phase::Connected);
    assert!(rig.upstream.numbers().catalogues_read >= 6);
    assert_eq!(server.opened.get(), 1);
    rig.end().await;
}

/// agentgateway #3476, IBM/mcp-context-forge #6635: lists that are cut at the first page, or at the first refresh.
#[tokio::test]
async fn every_page_is_read_at_every_refresh() {
    let limits = Limits { refresh: Duration::from_millis(1), ..Limits::default() };
    let server = Legacy { pages: 5, ..Legacy::echo() };
    let rig = under(&server, limits).await;
    for version in 1..4 {
        server.version.store(version, Ordering::SeqCst);
        let wanted = format!("v{version}");
        let now = seen(&rig, |snapshot| {
            snapshot
                .offering
                .as_ref()
                .is_some_and(|offering| offering.tools.iter().all(|tool| tool.contains(&wanted)))
        });
        assert_eq!(now.await.offering.as_ref().unwrap().tools.len(), 5);
    }
    rig.end().await;
}

/// A server that says `list_changed` on its stream, as often as the test wants.
fn talkative() -> (Legacy, Arc<std::sync::Mutex<Vec<mpsc::Sender<Bytes>>>>) {
    let streams: Arc<std::sync::Mutex<Vec<mpsc::Sender<Bytes>>>> = Arc::default();
    let opened = Arc::clone(&streams);
    let stream = move |_: &http::Request<Bytes>| {
        let (send, pieces) = mpsc::channel(256);
        send.try_send(Bytes::from_static(b": hello\nretry: 100\n\n")).unwrap();
        opened.lock().unwrap().push(send);
        streamed("text/event-stream", pieces)
    };
    (Legacy { stream: Arc::new(stream), ..Legacy::echo() }, streams)
}

const CHANGED: &[u8] =
    b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";

#[tokio::test]
async fn a_storm_of_changes_on_the_own_stream_costs_few_reads() {
    let (server, streams) = talkative();
    let rig = connected(&server).await;
    server.gets.reaches(1).await;
    server.version.store(1, Ordering::SeqCst);
    let stream = streams.lock().unwrap()[0].clone();
    for _ in 0..200 {
        soon(stream.send(Bytes::from_static(CHANGED))).await.unwrap();
    }
    seen(&rig, |snapshot| first_tool(snapshot).contains("v1")).await;
    server.version.store(2, Ordering::SeqCst);
    soon(stream.send(Bytes::from_static(CHANGED))).await.unwrap();
    seen(&rig, |snapshot| first_tool(snapshot).contains("v2")).await;
    assert!(server.lists.get() <= 5, "{} reads", server.lists.get());
    let numbers = rig.upstream.numbers();
    assert_eq!((numbers.streams_opened, numbers.streams_active), (1, 1));
    rig.end().await;
}

#[tokio::test]
async fn a_stream_that_ends_is_opened_again_and_is_no_news() {
    let (server, streams) = talkative();
    let rig = connected(&server).await;
    for times in 1..=3 {
        server.gets.reaches(times).await;
        streams.lock().unwrap().clear();
    }
    server.gets.reaches(4).await;
    assert_eq!(server.lists.get(), 1, "a stream that ends is no reason to read");
    assert_eq!(server.opened.get(), 1);
    assert!(rig.upstream.numbers().streams_closed >= 3);
    assert_eq!(rig.upstream.watch().borrow().phase, Phase::Connected);
    rig.end().await;
}

/// envoyproxy/ai-gateway #1924, #1925: 405 to `GET` says that there is no stream.
#[tokio::test]
async fn a_server_without_a_stream_is_asked_once_in_a_session() {
    let server = Legacy::echo();
    let rig = under(&server, hasty()).await;
    server.gets.reaches(1).await;
    server.pings.reaches(300).await;
    assert_eq!((server.gets.get(), server.lists.get()), (1, 1));
    let numbers = rig.upstream.numbers();
    assert_eq!((numbers.streams_unsupported, numbers.streams_opened), (1, 0));
    rig.end().await;
}

#[tokio::test]
async fn a_change_told_on_a_clients_stream_is_read_and_not_passed_on() {
    let server = Legacy::new(|_| {
        let (send, pieces) = mpsc::channel(4);
        send.try_send(Bytes::from_static(CHANGED)).unwrap();
        let answer = "data: {\"jsonrpc\":\"2.0\",\"id\":\"c-1\",\"result\":{}}\n\n";
        send.try_send(Bytes::from_static(answer.as_bytes())).unwrap();
        streamed("text/event-stream", pieces)
    });
    let rig = connected(&server).await;
    server.version.store(7, Ordering::SeqCst);
    let answer = rig.call(&party(1, Revision::V2025_11_25, false), CALL).await.unwrap();
    let text = crate::upstream::testing::text(answer).await.unwrap();
    assert!(text.contains("result") && !text.contains("list_changed"), "{text}");
    seen(&rig, |snapshot| first_tool(snapshot).contains("v7")).await;
    rig.end().await;
}

#[tokio::test]
async fn attempts_end_and_the_operator_begins_anew() {
    let server = Legacy::echo();
    server.broken.store(500, Ordering::SeqCst);
    let limits = Limits { attempts: Some(3), ..hasty() };
    let rig = http(&server.serve().await, limits);
    let given_up =
        seen(&rig, |snapshot| snapshot.attempt == 3 && snapshot.next_attempt.is_none()).await;
    assert_eq!(given_up.phase, Phase::Disconnected);
    let stranger = party(1, Revision::V2026_07_28, true);
    let fault = rig.call(&stranger, CALL).await.unwrap_err();
    assert!(fault.public().contains("not tried again"), "{}", fault.public());
    server.broken.store(0, Ordering::SeqCst);
    rig.upstream.control(Control::Reconnect);
    rig.until(Phase::Connected).await;
    // A connected one is read again.
    server.version.store(1, Ordering::SeqCst);
    rig.upstream.control(Control::Reconnect);
    seen(&rig, |snapshot| first_tool(snapshot).contains("v1")).await;
    rig.end().await;
}

#[tokio::test]
async fn who_is_taken_out_has_no_session_and_takes_no_call_until_put_back() {
    let server = Legacy::echo();
    let rig = under(&server, hasty()).await;
    let somebody = party(1, Revision::V2025_11_25, false);
    rig.call(&somebody, CALL).await.unwrap();
    assert_eq!(rig.upstream.numbers().sessions, 1);
    rig.upstream.control(Control::Disable);
    let out = seen(&rig, |snapshot| snapshot.disabled).await;
    assert_eq!((out.phase, out.next_attempt), (Phase::Disconnected, None));
    server.ended.reaches(2).await;
    let opened = server.opened.get();
    let fault = rig.call(&somebody, CALL).await.unwrap_err();
    assert!(fault.public().contains("taken out"), "{}", fault.public());
    assert_eq!(server.opened.get(), opened);
    let left = async {
        while rig.upstream.numbers().sessions > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(left).await;
    rig.upstream.control(Control::Enable);
    rig.until(Phase::Connected).await;
    rig.call(&somebody, CALL).await.unwrap();
    rig.end().await;
}

#[tokio::test]
async fn requests_in_flight_are_counted_to_the_end_of_their_answers() {
    let (keep, held) = std::sync::mpsc::sync_channel(8);
    let server = Legacy::new(move |_| {
        let (send, pieces) = mpsc::channel(2);
        send.try_send(Bytes::from_static(
            b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n",
        ))
        .unwrap();
        keep.send(send).unwrap();
        streamed("text/event-stream", pieces)
    });
    let rig = connected(&server).await;
    assert_eq!(rig.upstream.numbers().in_flight, 0);
    let somebody = party(1, Revision::V2025_11_25, false);
    let answers = join_all((0..3).map(|_| rig.call(&somebody, CALL))).await;
    assert_eq!(rig.upstream.numbers().in_flight, 3);
    drop(answers);
    assert_eq!(rig.upstream.numbers().in_flight, 0);
    drop(held);
    rig.end().await;
}
