//! When to come back to a stream that ended, and from where on it continues (MCP 2025-11-25, "Resumability and
//! Redelivery").

use std::sync::{Arc, Weak};
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use tokio::time::{sleep, timeout_at};

use super::body::{Drainer, Pace, Source};
use super::endpoint::Endpoint;
use super::events::is_events;
use super::request::get;
use super::session::Session;
use crate::protocol::sse::Event;
use crate::upstream::failure::Failure;
use crate::upstream::limits::{RESUMES, STREAM_RETRY, STREAM_RETRY_MAX, STREAM_RETRY_MIN};

/// What the server said about coming back.
#[derive(Debug, Default)]
pub(super) struct Hints {
    retry: Option<Duration>,
    last: Option<HeaderValue>,
}

impl Hints {
    /// Notes what an event says.
    pub(super) fn note(&mut self, event: &Event) {
        if let Some(retry) = event.retry {
            self.retry = Some(Duration::from_millis(retry));
        }
        if let Some(id) = &event.id {
            self.last = HeaderValue::from_str(id).ok().filter(|id| !id.is_empty());
        }
    }

    /// The last event that came, if the server names its events.
    pub(super) fn last(&self) -> Option<HeaderValue> {
        self.last.clone()
    }

    /// The wait before the stream is asked for again; none where the server names no events to go on from.
    pub(super) fn polling(&self) -> Option<Duration> {
        self.last.is_some().then(|| self.wait(0))
    }

    /// The wait before attempt number `vain` + 1. What the server asks for counts for the first ones.
    pub(super) fn wait(&self, vain: u32) -> Duration {
        let first = self.retry.unwrap_or(STREAM_RETRY).clamp(STREAM_RETRY_MIN, STREAM_RETRY_MAX);
        first.saturating_mul(1 << vain.saturating_sub(1).min(16)).min(STREAM_RETRY_MAX)
    }
}

/// Whether a status means that another attempt may fare better: credential, timing, a stream that the server has not given up
/// yet, load.
pub(super) fn may_pass(status: StatusCode) -> bool {
    matches!(status.as_u16(), 401 | 403 | 408 | 409 | 425 | 429 | 500 | 502..600)
}

/// Asks for the rest of the stream of one call.
pub(super) struct Resume {
    pub(super) session: Weak<Session>,
    pub(super) pace: Pace,
    /// Reads on when nobody waits any more.
    pub(super) drainer: Option<Arc<Drainer>>,
    /// Attempts in a row that gave no event.
    vain: u32,
}

impl Resume {
    pub(super) fn new(session: Weak<Session>, pace: Pace, drainer: Option<Arc<Drainer>>) -> Self {
        Self { session, pace, drainer, vain: 0 }
    }

    /// An event came.
    pub(super) fn gained(&mut self) {
        self.vain = 0;
    }

    /// One attempt, after a wait: none when it failed and another may follow. `failure` is what the end of the stream means
    /// if nothing follows it.
    pub(super) async fn again(
        &mut self,
        endpoint: &Endpoint,
        hints: &Hints,
        failure: Failure,
    ) -> Result<Option<Source>, Failure> {
        let Some(after) = hints.last().filter(|_| self.vain < RESUMES) else { return Err(failure) };
        let Some(deadline) = self.pace.deadline else {
            return self.attempt(endpoint, hints, after, failure).await;
        };
        let limit = self.pace.call;
        timeout_at(deadline, self.attempt(endpoint, hints, after, failure))
            .await
            .unwrap_or_else(|_elapsed| Err(Failure::timeout(endpoint.name(), limit)))
    }

    async fn attempt(
        &mut self,
        endpoint: &Endpoint,
        hints: &Hints,
        after: HeaderValue,
        failure: Failure,
    ) -> Result<Option<Source>, Failure> {
        sleep(hints.wait(self.vain)).await;
        self.vain += 1;
        let Some(session) = self.session.upgrade() else { return Err(failure) };
        let request = get(endpoint, session.head(), Some(after));
        drop(session);
        let Ok(response) = endpoint.send(request).await else { return Ok(None) };
        let status = response.status();
        if status.is_success() && is_events(response.headers().get(CONTENT_TYPE)) {
            let name = Arc::clone(endpoint.status.name());
            let (body, drainer) = (response.into_body(), self.drainer.clone());
            return Ok(Some(Source::new(body, name, self.pace, drainer).without_stall()));
        }
        if may_pass(status) { Ok(None) } else { Err(failure.because(status)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_within_bounds_and_honour_what_the_server_asks_for() {
        let wait = |retry: Option<u64>, vain| {
            let mut hints = Hints::default();
            hints.note(&Event { retry, ..Event::default() });
            hints.wait(vain).as_millis()
        };
        assert_eq!([0, 1, 2, 3, 9].map(|vain| wait(None, vain)), [1000, 1000, 2000, 4000, 60_000]);
        assert_eq!(wait(Some(0), 1), 100);
        assert_eq!(wait(Some(5_000), 1), 5_000);
        assert_eq!(wait(Some(u64::MAX), 1), 60_000);
    }

    #[test]
    fn the_last_event_is_the_one_that_has_a_name() {
        let mut hints = Hints::default();
        for (id, last) in [(Some("a"), Some("a")), (None, Some("a")), (Some(""), None)] {
            hints.note(&Event { id: id.map(str::to_owned), ..Event::default() });
            assert_eq!(hints.last().as_ref().map(|id| id.to_str().unwrap()), last);
        }
    }
}
