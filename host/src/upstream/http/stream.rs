//! Follows a stream on which a server speaks by itself, and opens it again when it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method as Verb, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::{Instant, sleep};

use super::body::{Pace, Source};
use super::endpoint::Endpoint;
use super::events::is_events;
use super::resume::{Hints, may_pass};
use crate::protocol::sse;
use crate::upstream::batch;
use crate::upstream::limits::{EVENT, STREAM_STEADY};

/// A stream, and who hears what comes on it.
pub(super) trait Stream: Sync {
    /// The request that opens it, from behind the event `after`; none when nobody is there to hear it any more.
    fn request(&self, after: Option<HeaderValue>) -> Option<Request<Full<Bytes>>>;

    /// The server has answered the request, one way or the other.
    fn answered(&self) {}

    /// Takes a message.
    fn message(&self, text: Bytes);
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

/// Follows the stream, and opens it again when it ends: with a growing wait while it does not last, and never more than
/// that: a stream that breaks is no news about the catalogue. Returns when the server has no such stream, or nobody hears it.
pub(super) async fn follow(endpoint: &Arc<Endpoint>, stream: &impl Stream) {
    let mut hints = Hints::default();
    let mut vain: u32 = 0;
    while let Some(request) = stream.request(hints.last()) {
        let of_session = request.method() == Verb::GET;
        if of_session && endpoint.no_streams.load(Ordering::Relaxed) {
            return;
        }
        match open(endpoint, stream, request, &mut hints).await {
            End::Unsupported(status) => {
                if of_session && status == StatusCode::METHOD_NOT_ALLOWED {
                    endpoint.no_streams.store(true, Ordering::Relaxed);
                }
                endpoint.status.tally.no_stream();
                tracing::debug!(upstream = endpoint.name(), %status, "no stream of its own");
                return;
            }
            End::Closed(lasted) if lasted >= STREAM_STEADY => vain = 0,
            End::Closed(_) | End::Failed => vain = vain.saturating_add(1),
        }
        sleep(hints.wait(vain)).await;
    }
}

async fn open(
    endpoint: &Arc<Endpoint>,
    stream: &impl Stream,
    request: Request<Full<Bytes>>,
    hints: &mut Hints,
) -> End {
    // A server may keep its header back until the first event.
    let response = endpoint.send(request).await;
    stream.answered();
    let Ok(response) = response else {
        endpoint.status.bell.session();
        return End::Failed;
    };
    let status = response.status();
    if status.is_success() && is_events(response.headers().get(CONTENT_TYPE)) {
        let counted = endpoint.status.tally.stream();
        let since = Instant::now();
        read(endpoint, stream, response.into_body(), hints).await;
        drop(counted);
        return End::Closed(since.elapsed());
    }
    if may_pass(status) {
        return End::Failed;
    }
    if status == StatusCode::NOT_FOUND {
        // Either there is no such stream, or the session is gone: the keeper finds out.
        endpoint.status.bell.session();
    }
    End::Unsupported(status)
}

/// Reads to the end of the stream.
async fn read(endpoint: &Arc<Endpoint>, stream: &impl Stream, body: Incoming, hints: &mut Hints) {
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
            hints.note(&event);
            if event.is_message() {
                batch::split(event.data).for_each(|message| stream.message(message));
            }
        }
    }
}
