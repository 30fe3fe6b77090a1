//! What a server says in a party's session outside of calls.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::super::fixture::Legacy;
use super::CALL;
use super::asks::{EVERYTHING, asking, request, say};
use crate::config::Asks;
use crate::pipeline::port::Incoming;
use crate::protocol::{Kind, Message, Revision};
use crate::upstream::testing::{Inbox, json, listening, reply, soon, streamed, text_of};

/// The session of a stream, and its writing end.
type Opened = (String, mpsc::Sender<Bytes>);

/// A server with a stream for every session; answers to its requests are handed on.
fn speaker() -> (Legacy, mpsc::Receiver<Opened>, mpsc::Receiver<Message>) {
    let ((streams, opened), (answers, answered)) = (mpsc::channel(8), mpsc::channel(8));
    let server = Legacy {
        stream: Arc::new(move |request| {
            let session = request.headers()["mcp-session-id"].to_str().unwrap().to_owned();
            let (send, pieces) = mpsc::channel(8);
            streams.try_send((session, send)).unwrap();
            streamed("text/event-stream", pieces)
        }),
        ..Legacy::new(move |message| {
            if message.kind() == Kind::Response {
                answers.try_send(message.clone()).unwrap();
                return reply(202, "text/plain", "");
            }
            json(r#"{"jsonrpc":"2.0","id":"c-1","result":{}}"#)
        })
    };
    (server, opened, answered)
}

#[tokio::test]
async fn the_stream_of_a_session_is_heard_while_the_client_listens_and_the_session_lasts() {
    let (server, mut opened, mut answered) = speaker();
    let rig = asking(&server, Asks::default()).await;
    let (own, _kept) = soon(opened.recv()).await.unwrap();
    assert_eq!(own, "s1");
    let (inbox, mut received) = Inbox::new();
    let party = listening(1, Revision::V2025_11_25, EVERYTHING, inbox.clone());
    for _ in 0..2 {
        rig.call(&party, CALL).await.unwrap();
    }
    assert!(opened.try_recv().is_err(), "nobody listens yet");
    inbox.listen();
    let (session, stream) = soon(opened.recv()).await.unwrap();
    assert_eq!(session, "s2");
    while rig.upstream.numbers().streams_active < 2 {
        tokio::task::yield_now().await;
    }

    let notes = [
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.0}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/of/tomorrow"}"#,
    ];
    say(&stream, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#).await;
    say(&stream, r#"{"jsonrpc":"2.0","id":"c-1","result":{}}"#).await;
    for note in notes {
        say(&stream, note).await;
        let Incoming::Notification(told) = soon(received.recv()).await.unwrap() else { panic!() };
        assert_eq!((&*told.upstream, &*told.text), ("demo", note.as_bytes()));
    }
    server.lists.reaches(2).await;

    say(&stream, &request("1", "roots/list", "{}")).await;
    assert!(soon(answered.recv()).await.unwrap().error().unwrap().contains("-32601"));
    say(&stream, &request("1", "elicitation/create", r#"{"message":"m"}"#)).await;
    let asked = soon(received.recv()).await.unwrap();
    assert!(text_of(&asked).contains(r#""[demo] m""#));
    let Incoming::Ask(ask) = asked else { panic!() };
    ask.reply.answer(&Message::parse(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#.into()).unwrap());
    assert_eq!(soon(answered.recv()).await.unwrap().id().unwrap().as_json(), "1");

    // Opened again where it ends, and not any more once the session has ended.
    drop(stream);
    let (session, stream) = soon(opened.recv()).await.unwrap();
    assert_eq!(session, "s2");
    soon(rig.upstream.leave(party.id)).await;
    soon(stream.closed()).await;
    rig.end().await;
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn what_the_client_has_no_room_for_is_refused() {
    let (server, mut opened, mut answered) = speaker();
    let rig = asking(&server, Asks::default()).await;
    let (_own, _kept) = soon(opened.recv()).await.unwrap();
    let (inbox, received) = Inbox::new();
    drop(received);
    inbox.listen();
    rig.call(&listening(1, Revision::V2025_11_25, EVERYTHING, inbox), CALL).await.unwrap();
    let (_session, stream) = soon(opened.recv()).await.unwrap();
    say(&stream, &request("1", "elicitation/create", r#"{"message":"m"}"#)).await;
    assert!(soon(answered.recv()).await.unwrap().error().unwrap().contains("-32603"));
    rig.end().await;
}

#[tokio::test]
async fn a_server_without_such_streams_is_asked_once_for_all_sessions() {
    let server = Legacy::echo();
    let rig = asking(&server, Asks::default()).await;
    server.gets.reaches(1).await;
    while rig.upstream.numbers().streams_unsupported == 0 {
        tokio::task::yield_now().await;
    }
    for id in 1..4 {
        let (inbox, _received) = Inbox::new();
        inbox.listen();
        rig.call(&listening(id, Revision::V2025_11_25, "{}", inbox), CALL).await.unwrap();
    }
    rig.end().await;
    assert_eq!(server.gets.get(), 1);
}
