//! `subscriptions/listen` at a server of the modern era. Servers restart and streams break off; the subscription goes on.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::fault::Fault;
use crate::pipeline::port::{Answer, Incoming, Messages, Order, Phase, Upstream};
use crate::protocol::{Message, Method};
use crate::upstream::failure::Failure;
use crate::upstream::limits::{STREAM_RETRY, STREAM_RETRY_MAX, STREAM_STEADY};

/// The subscription of one request.
struct Steady {
    upstream: Arc<dyn Upstream>,
    order: Order,
    /// The upstream is taken out of the configuration, or plugway stops.
    over: CancellationToken,
    acknowledged: bool,
    /// Streams in a row that did not last.
    vain: u32,
    since: Instant,
}

/// Listens. A server that refuses is not asked again; one that acknowledged it is, as often as it takes.
pub(super) async fn listen(
    upstream: Arc<dyn Upstream>,
    order: Order,
    over: CancellationToken,
) -> Result<Answer, Fault> {
    let Answer::Messages(messages) = upstream.exchange(order.clone()).await? else {
        return Err(Failure::broken(upstream.name(), "tells of no changes").fault());
    };
    let (acknowledged, vain, since) = (false, 0, Instant::now());
    let steady = Steady { upstream, order, over, acknowledged, vain, since };
    Ok(Answer::messages(stream::unfold(Some((steady, messages)), |state| async {
        let (mut steady, mut messages) = state?;
        let next = steady.next(&mut messages).await?;
        let goes_on = matches!(next, Ok(Incoming::Notification(_)));
        Some((next, goes_on.then_some((steady, messages))))
    })))
}

impl Steady {
    /// The next notification. None, a response or an error is the end.
    async fn next(&mut self, messages: &mut Messages) -> Option<Result<Incoming, Fault>> {
        let over = self.over.clone();
        let next = over.run_until_cancelled(async {
            loop {
                let next = messages.next().await;
                match next {
                    Some(Ok(Incoming::Notification(note))) => {
                        if self.passes(&note.text) {
                            return Some(Ok(Incoming::Notification(note)));
                        }
                    }
                    // Nothing is asked of who listens.
                    Some(Ok(Incoming::Ask(_))) => {}
                    ended if !self.acknowledged => return ended,
                    _ => *messages = self.again().await,
                }
            }
        });
        match next.await {
            Some(next) => next,
            None => Some(Err(Failure::stopping().fault())),
        }
    }

    /// Only the first acknowledgement is news.
    fn passes(&mut self, text: &bytes::Bytes) -> bool {
        let is_acknowledgement = Message::parse(text.clone())
            .is_ok_and(|message| message.method() == Method::Acknowledged);
        !(is_acknowledgement && std::mem::replace(&mut self.acknowledged, true))
    }

    /// Another stream in the place of one that ended.
    async fn again(&mut self) -> Messages {
        if self.since.elapsed() >= STREAM_STEADY {
            self.vain = 0;
        }
        loop {
            self.rest().await;
            self.vain = self.vain.saturating_add(1);
            if let Ok(Answer::Messages(messages)) = self.upstream.exchange(self.order.clone()).await
            {
                self.since = Instant::now();
                return messages;
            }
        }
    }

    /// Waits longer from time to time, and not longer than until a server that was away is back.
    async fn rest(&self) {
        let wait = STREAM_RETRY.saturating_mul(1 << self.vain.min(16)).min(STREAM_RETRY_MAX);
        let mut watch = self.upstream.watch();
        if watch.borrow().phase == Phase::Connected {
            return sleep(wait).await;
        }
        let back = watch.wait_for(|snapshot| snapshot.phase == Phase::Connected);
        drop(timeout(wait.max(Duration::from_secs(5)), back).await);
    }
}
