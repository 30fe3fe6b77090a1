//! The bytes of an answer, within bounds of size and time; and what becomes of those that nobody reads to the end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use http::Response;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper_util::client::legacy::{Error, ResponseFuture};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::TaskTracker;

use crate::outbound::chain;
use crate::upstream::failure::Failure;
use crate::upstream::limits::{DRAIN, DRAIN_BYTES, TAIL};

/// Reads on what nobody waits for any more. In the legacy era a closed connection does not mean that a call is
/// cancelled, but servers exist that take it so.
#[derive(Debug)]
pub(super) struct Drainer {
    tracker: TaskTracker,
    free: Arc<Semaphore>,
}

impl Drainer {
    /// `most` is how much may go on at once.
    pub(super) fn new(tracker: TaskTracker, most: usize) -> Self {
        Self { tracker, free: Arc::new(Semaphore::new(most)) }
    }

    /// Runs something small in the background, at most so long; drops it when too much runs already.
    pub(super) fn run(&self, task: impl Future<Output = ()> + Send + 'static, limit: Duration) {
        let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() else {
            tracing::debug!("too much goes on in the background for one thing more");
            return;
        };
        drop(self.tracker.spawn(async move {
            if timeout(limit, task).await.is_err() {
                tracing::debug!("gave up waiting for the end of something in the background");
            }
            drop(permit);
        }));
    }

    fn body(&self, body: Incoming, limit: Duration) {
        self.run(drain(body), limit);
    }
}

async fn drain(mut body: Incoming) {
    let mut left = DRAIN_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else { return };
        left = rest;
    }
}

/// A request under way that goes on when nobody waits for it any more, if it has a drainer.
pub(super) struct Sent {
    response: Option<ResponseFuture>,
    drainer: Option<Arc<Drainer>>,
}

impl Sent {
    pub(super) fn new(response: ResponseFuture, drainer: Option<Arc<Drainer>>) -> Self {
        Self { response: Some(response), drainer }
    }
}

impl Future for Sent {
    type Output = Result<Response<Incoming>, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(response) = &mut self.response else { return Poll::Pending };
        let answer = ready!(response.poll_unpin(context));
        self.response = None;
        Poll::Ready(answer)
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        let (Some(response), Some(drainer)) = (self.response.take(), self.drainer.take()) else {
            return;
        };
        let rest = async move {
            if let Ok(response) = response.await {
                drain(response.into_body()).await;
            }
        };
        drainer.run(rest, DRAIN);
    }
}

/// The body of an answer as it arrives.
pub(super) struct Source {
    body: Option<Incoming>,
    pub(super) name: Arc<str>,
    /// When the whole answer is due.
    deadline: Option<Instant>,
    call: Duration,
    /// How long the next piece may take.
    stall: Option<Duration>,
    drainer: Option<Arc<Drainer>>,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// When the whole answer is due.
    pub(super) deadline: Option<Instant>,
    /// The limit that led to the deadline.
    pub(super) call: Duration,
    /// How long the next piece may take.
    pub(super) stall: Option<Duration>,
}

impl Source {
    pub(super) fn new(
        body: Incoming,
        name: Arc<str>,
        pace: Pace,
        drainer: Option<Arc<Drainer>>,
    ) -> Self {
        let Pace { deadline, call, stall } = pace;
        Self { body: Some(body), name, deadline, call, stall, drainer }
    }

    /// Events may be far apart.
    pub(super) fn without_stall(mut self) -> Self {
        self.stall = None;
        self
    }

    /// How many bytes there will be, where the server says so.
    pub(super) fn length(&self) -> Option<u64> {
        self.body.as_ref().and_then(|body| body.size_hint().exact())
    }

    /// The next piece; none at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let Some(body) = &mut self.body else { return Ok(None) };
        loop {
            let stall = self.stall.map(|stall| Instant::now() + stall);
            let due = [self.deadline, stall].into_iter().flatten().min();
            let frame = match due {
                None => body.frame().await,
                Some(due) => match timeout_at(due, body.frame()).await {
                    Ok(frame) => frame,
                    Err(_elapsed) => {
                        let stalled = self.deadline.is_none_or(|deadline| due < deadline);
                        let limit = self.stall.filter(|_| stalled).unwrap_or(self.call);
                        return Err(Failure::timeout(&self.name, limit));
                    }
                },
            };
            match frame {
                None => {
                    self.body = None;
                    return Ok(None);
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => {
                    self.body = None;
                    let what = "broke off in the middle of its answer";
                    return Err(Failure::broken(&self.name, what).because(chain(&error)));
                }
            }
        }
    }

    /// Up to `limit` bytes, and whether that is all.
    pub(super) async fn up_to(&mut self, limit: usize) -> Result<(Bytes, bool), Failure> {
        let Some(first) = self.chunk().await? else { return Ok((Bytes::new(), true)) };
        if self.body.as_ref().is_none_or(hyper::body::Body::is_end_stream) {
            self.body = None;
            return Ok((first, true));
        }
        let mut all = BytesMut::from(first);
        while all.len() <= limit {
            let Some(more) = self.chunk().await? else { return Ok((all.freeze(), true)) };
            all.extend_from_slice(&more);
        }
        Ok((all.freeze(), false))
    }

    /// The response was read: lets the stream end by itself, so that the connection can be used again.
    pub(super) fn finish(&mut self, drainer: &Drainer) {
        let Some(mut body) = self.body.take() else { return };
        loop {
            match body.frame().now_or_never() {
                Some(Some(Ok(_frame))) => {}
                Some(None | Some(Err(_))) => return,
                None => return drainer.body(body, TAIL),
            }
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if let (Some(body), Some(drainer)) = (self.body.take(), self.drainer.take()) {
            drainer.body(body, DRAIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::oneshot::{self, error::TryRecvError};

    use super::*;
    use crate::upstream::testing::soon;

    /// Something that goes on for ever; the other half closes when it is dropped.
    fn endless() -> (impl Future<Output = ()>, oneshot::Receiver<()>) {
        let (held, dropped) = oneshot::channel::<()>();
        let task = async move {
            pending::<()>().await;
            drop(held);
        };
        (task, dropped)
    }

    #[tokio::test]
    async fn so_much_goes_on_in_the_background_and_no_more() {
        let drainer = Drainer::new(TaskTracker::new(), 2);
        let [(first, mut one), (second, mut two), (third, mut three)] =
            std::array::from_fn(|_| endless());
        let (for_long, at_once) = (Duration::from_mins(1), Duration::from_millis(1));
        drainer.run(first, for_long);
        drainer.run(second, at_once);
        drainer.run(third, for_long);
        assert_eq!(three.try_recv(), Err(TryRecvError::Closed), "two are all that may");
        assert!(soon(&mut two).await.is_err(), "its time is over");
        assert_eq!(one.try_recv(), Err(TryRecvError::Empty), "it has its time");
        let (fourth, mut four) = endless();
        // The permit is free soon after the task is dropped.
        let free = async {
            while drainer.free.available_permits() == 0 {
                tokio::task::yield_now().await;
            }
        };
        soon(free).await;
        drainer.run(fourth, for_long);
        assert_eq!(four.try_recv(), Err(TryRecvError::Empty));
    }
}
