//! plugway's own event stream at a server, on which it says that its lists have changed: `GET` in plugway's session at a
//! legacy server, `subscriptions/listen` at a modern one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::{Instant, sleep};

use super::body::{Pace, Source};
use super::endpoint::Endpoint;
use super::events::{is_events, respond};
use super::request::{Head, get, post};
use super::session::Session;
use crate::protocol::{Kind, sse};
use crate::upstream::authored::{self, listen};
use crate::upstream::bell::is_list_change;
use crate::upstream::limits::{
    EVENT, STREAM_RETRY, STREAM_RETRY_MAX, STREAM_RETRY_MIN, STREAM_STEADY,
};
use crate::upstream::peek::Peek;

/// Which stream.
#[derive(Debug)]
pub(super) enum Stream {
    /// `GET` in this session.
    Session(Arc<Session>),
    /// `subscriptions/listen`.
    Subscription,
}

/// How an attempt ended.
enum End {
    /// The server has no such stream.
    Unsupported(StatusCode),
    /// It was open for so long.
    Closed(Duration),
    /// It did not come to be.
    Failed,
}

/// What the server said about coming back.
#[derive(Debug, Default)]
struct Hints {
    retry: Option<Duration>,
    last: Option<HeaderValue>,
}

/// Follows the stream, and opens it again when it ends: with a growing wait while it does not last, and never more than
/// that: a stream that breaks is no news about the catalogue. Returns when the server has no such stream.
pub(super) async fn follow(endpoint: &Arc<Endpoint>, stream: &Stream, ids: &AtomicU64) {
    let mut hints = Hints::default();
    let mut vain: u32 = 0;
    loop {
        let head = stream.head();
        let request = stream.request(endpoint, head.clone(), &hints, ids);
        match open(endpoint, head, request, &mut hints).await {
            End::Unsupported(status) => {
                endpoint.status.tally.no_stream();
                tracing::debug!(upstream = endpoint.name(), %status, "no stream of its own");
                return;
            }
            End::Closed(lasted) if lasted >= STREAM_STEADY => vain = 0,
            End::Closed(_) | End::Failed => vain = vain.saturating_add(1),
        }
        sleep(wait(hints.retry, vain)).await;
    }
}

/// The wait before attempt number `vain` + 1. What the server asks for counts for the first ones.
fn wait(asked: Option<Duration>, vain: u32) -> Duration {
    let first = asked.unwrap_or(STREAM_RETRY).clamp(STREAM_RETRY_MIN, STREAM_RETRY_MAX);
    first.saturating_mul(1 << vain.saturating_sub(1).min(16)).min(STREAM_RETRY_MAX)
}

impl Stream {
    fn head(&self) -> Head {
        match self {
            Self::Session(session) => session.head(),
            Self::Subscription => Head::modern_method("subscriptions/listen"),
        }
    }

    fn request(
        &self,
        endpoint: &Endpoint,
        head: Head,
        hints: &Hints,
        ids: &AtomicU64,
    ) -> Request<Full<Bytes>> {
        match self {
            Self::Session(_) => get(endpoint, head, hints.last.clone()),
            Self::Subscription => post(endpoint, head, listen(ids.fetch_add(1, Ordering::Relaxed))),
        }
    }
}

async fn open(
    endpoint: &Arc<Endpoint>,
    head: Head,
    request: Request<Full<Bytes>>,
    hints: &mut Hints,
) -> End {
    // A server may keep its header back until the first event.
    let Ok(response) = endpoint.send(request).await else {
        endpoint.status.bell.session();
        return End::Failed;
    };
    let status = response.status();
    if status.is_success() && is_events(response.headers().get(CONTENT_TYPE)) {
        let counted = endpoint.status.tally.stream();
        let since = Instant::now();
        read(endpoint, &head, response.into_body(), hints).await;
        drop(counted);
        return End::Closed(since.elapsed());
    }
    match status.as_u16() {
        // Credential, timing, a stream that the server has not given up yet, load.
        401 | 403 | 408 | 409 | 425 | 429 | 500 | 502..600 => End::Failed,
        404 => {
            // Either there is no such stream, or the session is gone: the keeper finds out.
            endpoint.status.bell.session();
            End::Unsupported(status)
        }
        _ => End::Unsupported(status),
    }
}

/// Reads to the end of the stream.
async fn read(endpoint: &Arc<Endpoint>, head: &Head, body: Incoming, hints: &mut Hints) {
    let pace = Pace { deadline: None, call: Duration::MAX, stall: None };
    let mut source = Source::new(body, Arc::clone(endpoint.status.name()), pace, None);
    let mut reader = sse::Reader::new(EVENT);
    loop {
        match source.chunk().await {
            Ok(Some(chunk)) => reader.push(&chunk),
            Ok(None) => return,
            Err(_broken) => return endpoint.status.bell.session(),
        }
        loop {
            let event = match reader.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(_too_large) => return,
            };
            if let Some(retry) = event.retry {
                hints.retry = Some(Duration::from_millis(retry));
            }
            if let Some(id) = &event.id {
                hints.last = HeaderValue::from_str(id).ok().filter(|id| !id.is_empty());
            }
            if event.is_message() {
                message(endpoint, head, &event.data);
            }
        }
    }
}

fn message(endpoint: &Arc<Endpoint>, head: &Head, text: &[u8]) {
    let Ok(peek) = Peek::read(text) else { return };
    match peek.kind() {
        Some(Kind::Notification) if is_list_change(peek.method()) => {
            endpoint.status.bell.changed();
        }
        Some(Kind::Request) => {
            let (method, id) = (peek.method(), peek.id().unwrap_or("null"));
            respond(endpoint, head.clone(), authored::reply(id, method));
        }
        // Log messages and the like are for nobody; the response ends a subscription, and the stream with it.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_within_bounds_and_honour_what_the_server_asks_for() {
        let seconds =
            |retry: Option<u64>, vain| wait(retry.map(Duration::from_millis), vain).as_millis();
        assert_eq!(
            [0, 1, 2, 3, 9].map(|vain| seconds(None, vain)),
            [1000, 1000, 2000, 4000, 60_000]
        );
        assert_eq!(seconds(Some(0), 1), 100);
        assert_eq!(seconds(Some(5_000), 1), 5_000);
        assert_eq!(seconds(Some(u64::MAX), 1), 60_000);
    }
}
