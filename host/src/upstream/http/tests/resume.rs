//! A call's stream that ends before the response is there.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::super::fixture::Legacy;
use super::called;
use crate::fault::Code;
use crate::protocol::Revision;
use crate::upstream::Limits;
use crate::upstream::testing::{Reply, reply, streamed};

/// The first revision whose streams may end early.
const REVISION: Revision = Revision::V2025_11_25;
const PRIMING: &str = "id: e1\nretry: 1\ndata:\n\n";
const NOTE: &str = "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n";
const RESPONSE: &str = "id: e3\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"c-1\",\"result\":{}}\n\n";

fn events(text: &'static str) -> Reply {
    reply(200, "text/event-stream", text)
}

/// More is promised than comes: the connection breaks.
fn broken(text: &'static str) -> Reply {
    let (send, pieces) = mpsc::channel(1);
    send.try_send(Bytes::from(text)).unwrap();
    // What was taken is written before the end comes.
    TaskTracker::new().spawn(async move { drop(send.reserve().await) });
    let mut reply = streamed("text/event-stream", pieces);
    reply.headers_mut().insert("content-length", "5000".parse().unwrap());
    reply
}

type Asked = Arc<Mutex<Vec<String>>>;

/// A server whose call answers with `first`, and which gives the rest as `more` says to who asks for it. What it was asked for
/// is noted.
fn server(
    first: fn() -> Reply,
    more: impl Fn(&str) -> Reply + Send + Sync + 'static,
) -> (Legacy, Asked) {
    let asked = Asked::default();
    let noted = Arc::clone(&asked);
    let server = Legacy {
        stream: Arc::new(move |request| {
            let header = |name| request.headers().get(name).map(|value| value.to_str().unwrap());
            let Some(after) = header("last-event-id") else { return reply(405, "text/plain", "") };
            noted.lock().unwrap().push(format!("{} {after}", header("mcp-session-id").unwrap()));
            more(after)
        }),
        ..Legacy::new(move |_| first())
    };
    (server, asked)
}

#[tokio::test]
async fn a_stream_that_ends_or_breaks_goes_on_behind_its_last_event() {
    // Only what the server ended itself is a break, in which the client may go away as well.
    for (is_ended, start) in [(true, "(a break)\n"), (false, "")] {
        let first = if is_ended { || events(PRIMING) } else { || broken(PRIMING) };
        let more = |after: &str| match after {
            // The rest comes in two parts, and the first of them breaks.
            "e1" => broken(NOTE),
            "e2" => events(RESPONSE),
            after => panic!("asked for what follows {after}"),
        };
        let (server, asked) = server(first, more);
        let rest = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"c-1\",\"result\":{}}\n";
        let want = format!("{start}{rest}");
        assert_eq!(called(&server, REVISION, Limits::default()).await.unwrap(), want);
        assert_eq!(*asked.lock().unwrap(), ["s2 e1", "s2 e2"]);
    }
}

#[tokio::test]
async fn a_stream_that_never_goes_on_is_given_up() {
    for (first, more, tries) in [
        (PRIMING, 404, 1),
        (PRIMING, 405, 1),
        (PRIMING, 503, 5),
        // It names no event: there is nothing to go on from.
        (": nothing\n\n", 200, 0),
    ] {
        let first = if first == PRIMING { || events(PRIMING) } else { || events(": nothing\n\n") };
        let (server, asked) = server(first, move |_| reply(more, "text/plain", ""));
        assert_eq!(
            called(&server, REVISION, Limits::default()).await,
            Err(Code::UpstreamBroken),
            "{more}"
        );
        assert_eq!(asked.lock().unwrap().len(), tries, "{more}");
    }
}

#[tokio::test]
async fn a_server_that_puts_its_caller_off_has_no_longer_than_the_call() {
    let (server, asked) = server(|| events(PRIMING), |_| events(PRIMING));
    let limits = Limits { call: Duration::from_millis(500), ..Limits::default() };
    assert_eq!(called(&server, REVISION, limits).await, Err(Code::UpstreamTimeout));
    assert!(!asked.lock().unwrap().is_empty());
}
