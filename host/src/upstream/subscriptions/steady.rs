//! `subscriptions/listen` at a server of the modern era. Servers restart and streams break off; the subscription goes on.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::observed::is_result;
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
    /// The server ended its stream with a result: the next one is asked for when somebody wants more.
    completed: bool,
    /// What acknowledges the stream after that one is news.
    anew: bool,
    /// Streams in a row that did not last.
    vain: u32,
    since: Instant,
}

/// Listens. A server that refuses is not asked again; one that acknowledged it is, as often as it takes. Where it ends a stream
/// with a result, that is an item, and no end: whoever needs no more of it stops reading, and others hear of the next
/// acknowledgement.
pub(super) async fn listen(
    upstream: Arc<dyn Upstream>,
    order: Order,
    over: CancellationToken,
) -> Result<Answer, Fault> {
    let Answer::Messages(messages) = upstream.exchange(order.clone()).await? else {
        return Err(Failure::broken(upstream.name(), "tells of no changes").fault());
    };
    let (acknowledged, completed, anew, vain, since) = (false, false, false, 0, Instant::now());
    let steady = Steady { upstream, order, over, acknowledged, completed, anew, vain, since };
    Ok(Answer::messages(stream::unfold(Some((steady, messages)), |state| async {
        let (mut steady, mut messages) = state?;
        let next = steady.next(&mut messages).await?;
        let goes_on = matches!(next, Ok(Incoming::Notification(_))) || steady.completed;
        Some((next, goes_on.then_some((steady, messages))))
    })))
}

impl Steady {
    /// The next notification, or the result that ends a stream of the server's. None, an error, or a response that came
    /// before anything was acknowledged, is the end.
    async fn next(&mut self, messages: &mut Messages) -> Option<Result<Incoming, Fault>> {
        let over = self.over.clone();
        let next = over.run_until_cancelled(async {
            if std::mem::take(&mut self.completed) {
                *messages = self.again().await;
                self.anew = true;
            }
            loop {
                let next = messages.next().await;
                match next {
                    Some(Ok(Incoming::Notification(note))) => {
                        if self.passes(&note.text) {
                            return Some(Ok(Incoming::Notification(note)));
                        }
                    }
                    // Nothing is asked of who listens.
                    Some(Ok(Incoming::Ask(_) | Incoming::Break(_))) => {}
                    ended if !self.acknowledged => return ended,
                    Some(Ok(Incoming::Response(text))) if is_result(&text) => {
                        self.completed = true;
                        return Some(Ok(Incoming::Response(text)));
                    }
                    _ => *messages = self.again().await,
                }
            }
        });
        match next.await {
            Some(next) => next,
            None => Some(Err(Failure::stopping().fault())),
        }
    }

    /// Only the first acknowledgement is news, and the first one after a result.
    fn passes(&mut self, text: &bytes::Bytes) -> bool {
        let is_acknowledgement = Message::parse(text.clone())
            .is_ok_and(|message| message.method() == Method::Acknowledged);
        if !is_acknowledgement {
            return true;
        }
        let first = !std::mem::replace(&mut self.acknowledged, true);
        std::mem::take(&mut self.anew) || first
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
