//! Calls of the legacy era that nobody waits for any more: they are not cancelled, and cost no more than a bound.

use bytes::Bytes;

use super::super::fixture::connected;
use super::CALL;
use super::asks::{asker, next, say};
use crate::protocol::Revision;
use crate::upstream::limits::DRAIN_BYTES;
use crate::upstream::testing::{party, soon, text_of};

/// The pieces that the server says after its client went away.
const PIECE: usize = 64 * 1024;
/// What the system and hyper may hold besides.
const ON_THE_WAY: usize = 32 * 1024 * 1024;

#[tokio::test]
async fn an_abandoned_answer_is_read_on_so_far_and_then_its_connection_is_closed() {
    let (server, mut called, _answered) = asker();
    let rig = connected(&server).await;
    let somebody = party(1, Revision::V2025_06_18, false);
    let call = rig.call(&somebody, CALL);
    let stream = async {
        let stream = soon(called.recv()).await.unwrap();
        say(&stream, r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#).await;
        stream
    };
    let (answer, stream) = futures_util::future::join(call, stream).await;
    let crate::pipeline::port::Answer::Messages(mut messages) = answer.unwrap() else {
        panic!("it is a stream");
    };
    assert!(text_of(&next(&mut messages).await).contains("notifications/message"));
    drop(messages);
    let piece = Bytes::from(vec![b' '; PIECE]);
    let mut sent = 0;
    while sent < DRAIN_BYTES + ON_THE_WAY && soon(stream.send(piece.clone())).await.is_ok() {
        sent += PIECE;
    }
    assert!(sent > DRAIN_BYTES, "a call is not cancelled by a client that goes away: {sent}");
    assert!(sent < DRAIN_BYTES + ON_THE_WAY, "it is read for ever");
    assert_eq!(server.cancelled.get(), 0);
    rig.end().await;
}
