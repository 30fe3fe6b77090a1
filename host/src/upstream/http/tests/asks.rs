//! What a server asks on the stream of a call.

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use super::super::fixture::Legacy;
use super::CALL;
use crate::config::Asks;
use crate::pipeline::port::{Answer, Incoming, Messages, Phase};
use crate::protocol::{Field, Id, Kind, Message, Method, Revision};
use crate::upstream::testing::{
    Rig, json, order, party_with, reply, serve, settings, soon, start, streamed, text_of,
};
use crate::upstream::{Settings, Transport};

pub(super) const EVERYTHING: &str =
    r#"{"elicitation":{"form":{}},"sampling":{},"roots":{},"experimental":{"x":1.0}}"#;
const ALL: Asks = Asks { elicitation: true, sampling: true, roots: true, include_context: false };

/// An upstream that may ask this.
pub(super) async fn asking(server: &Legacy, asks: Asks) -> Rig {
    let transport = Transport::Http { url: server.serve().await };
    let rig = start(&Settings { transport, asks, ..settings() });
    rig.until(Phase::Connected).await;
    rig
}

/// A server whose calls answer with streams that the test writes, and which hands on what it is answered.
pub(super) fn asker() -> (Legacy, mpsc::Receiver<mpsc::Sender<Bytes>>, mpsc::Receiver<Message>) {
    let ((calls, called), (answers, answered)) = (mpsc::channel(8), mpsc::channel(8));
    let server = Legacy::new(move |message| {
        if message.kind() == Kind::Response {
            answers.try_send(message.clone()).unwrap();
        }
        if message.method() != Method::ToolsCall {
            return reply(202, "text/plain", "");
        }
        let (send, pieces) = mpsc::channel(8);
        calls.try_send(send).unwrap();
        streamed("text/event-stream", pieces)
    });
    (server, called, answered)
}

pub(super) async fn say(stream: &mpsc::Sender<Bytes>, message: &str) {
    soon(stream.send(Bytes::from(format!("data: {message}\n\n")))).await.unwrap();
}

pub(super) async fn next(messages: &mut Messages) -> Incoming {
    soon(messages.next()).await.unwrap().unwrap()
}

pub(super) fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

#[tokio::test]
async fn the_client_is_asked_on_the_stream_of_its_call_and_its_answer_reaches_the_server() {
    let (server, mut called, mut answered) = asker();
    let rig = asking(&server, Asks::default()).await;
    let party = party_with(1, Revision::V2025_11_25, EVERYTHING);
    let Answer::Messages(mut messages) = rig.call(&party, CALL).await.unwrap() else { panic!() };
    let stream = called.recv().await.unwrap();
    say(&stream, &request("7", "ping", "{}")).await;
    say(&stream, &request("\"s\"", "sampling/createMessage", "{}")).await;
    let mut refused = Vec::new();
    while refused.len() < 2 {
        // Nothing comes before the stream is read.
        tokio::select! {
            message = messages.next() => panic!("{message:?}"),
            answer = soon(answered.recv()) => refused.push(answer.unwrap()),
        }
    }
    refused.sort_by_key(|answer| answer.error().is_some());
    assert_eq!(refused[0].result(), Some("{}"));
    assert!(refused[1].error().unwrap().contains("-32601"));
    assert_eq!(refused[1].id(), Id::parse("\"s\"").as_ref());

    say(&stream, &request("7", "elicitation/create", r#"{"message":"Go on?","n":1.0}"#)).await;
    let Incoming::Ask(ask) = next(&mut messages).await else { panic!() };
    assert_eq!(&*ask.upstream, "demo");
    assert!(ask.message.params().unwrap().contains(r#"{"message":"[demo] Go on?","n":1.0}"#));
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":1.0}}}"#;
    ask.reply.answer(&Message::parse(answer.into()).unwrap());
    assert_eq!(soon(answered.recv()).await.unwrap().text(), &answer.replace(":1,", ":7,"));

    // Nobody answers, and the server gives up another one: it hears of the first.
    for id in ["8", "9"] {
        say(&stream, &request(id, "elicitation/create", r#"{"message":""}"#)).await;
    }
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
    say(&stream, cancelled).await;
    drop(next(&mut messages).await);
    assert!(soon(answered.recv()).await.unwrap().error().unwrap().contains("-32603"));
    let Incoming::Ask(ask) = next(&mut messages).await else { panic!() };
    assert_eq!(text_of(&next(&mut messages).await), cancelled);
    ask.reply.forget();
    say(&stream, r#"{"jsonrpc":"2.0","id":"c-1","result":{}}"#).await;
    assert!(matches!(next(&mut messages).await, Incoming::Response(_)));
    assert!(soon(messages.next()).await.is_none());
    rig.end().await;
    assert!(answered.try_recv().is_err(), "nothing else was said");
}

#[tokio::test]
async fn a_server_is_told_what_the_client_declared_and_the_operator_allows() {
    let server = Legacy::echo();
    for (allowed, claims) in [
        (ALL, EVERYTHING),
        (Asks::default(), r#"{"elicitation":{"form":{}},"experimental":{"x":1.0}}"#),
        (Asks::NOTHING, r#"{"experimental":{"x":1.0}}"#),
    ] {
        server.hellos.lock().unwrap().clear();
        let rig = asking(&server, allowed).await;
        rig.call(&party_with(1, Revision::V2025_11_25, EVERYTHING), CALL).await.unwrap();
        rig.call(&party_with(2, Revision::V2026_07_28, EVERYTHING), CALL).await.unwrap();
        rig.call(&party_with(3, Revision::V2025_11_25, r#"{"roots":{}}"#), CALL).await.unwrap();
        let hellos = server.hellos.lock().unwrap().clone();
        let roots = if allowed.roots { r#"{"roots":{}}"# } else { "{}" };
        for (hello, claims) in hellos.iter().zip(["{}", claims, claims, roots]) {
            let claims = format!(r#""capabilities":{claims},"clientInfo""#);
            assert!(hello.contains(&claims), "{hello} without {claims}");
        }
        assert_eq!(hellos.len(), 4, "plugway's own is the first");
        rig.end().await;
    }
}

#[tokio::test]
async fn a_modern_request_loses_claims_that_are_not_allowed_and_nothing_else() {
    let (sent, mut received) = mpsc::channel(8);
    let (url, _server) = serve(move |request| {
        let message = Message::parse(request.body().clone()).unwrap();
        let id = message.id().map(|id| id.as_json().to_owned()).unwrap_or_default();
        let result = match message.method() {
            Method::Discover => r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#,
            _ => "{}",
        };
        if message.method() == Method::ToolsCall {
            sent.try_send(message).unwrap();
        }
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        Box::pin(std::future::ready(json(text)))
    })
    .await;
    let call = |claims: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/clientCapabilities":{claims}, "a" : 1.0}},"name":"t"}}}}"#
        )
    };
    let rig = start(&Settings { transport: Transport::Http { url }, ..settings() });
    rig.until(Phase::Connected).await;
    let modern = party_with(1, Revision::NEWEST, EVERYTHING);
    for (declared, claimed) in [
        (r#"{ "roots": {},"x":{ }}"#, r#"{"x":{ }}"#),
        (r#"{ "elicitation": {} }"#, r#"{ "elicitation": {} }"#),
        (r#"{"sampling":{}}"#, "{}"),
    ] {
        soon(rig.upstream.exchange(order(&modern, &call(declared)))).await.unwrap();
        let message = soon(received.recv()).await.unwrap();
        assert_eq!(message.text(), &call(claimed));
        assert_eq!(message.field(Field::MetaCapabilities), Some(claimed));
    }
    rig.end().await;
}
