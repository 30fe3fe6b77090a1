//! The tasks around one channel of HTTP+SSE: what a child's pipes are to it, a stream and an address to post to are here.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::places::Place;
use super::pumps::Pipes;
use crate::upstream::failure::Failure;
use crate::upstream::http::{Channel, Poster};
use crate::upstream::limits::WRITE_QUEUE;

/// A message has so much time to be taken before the next one is posted: they arrive in order at a server that takes what
/// it gets, and one that answers a post late holds nothing up.
const HEAD_START: Duration = Duration::from_millis(100);

/// Starts the tasks. The one that reads reports that the channel is gone and gives its place back.
pub(super) fn run(
    pipes: Pipes,
    channel: Channel,
    queue: mpsc::Receiver<Bytes>,
    end: (watch::Sender<bool>, Place),
) {
    let tracker = pipes.spec.tracker.clone();
    let (poster, stop) = (channel.poster(), pipes.stop.clone());
    let name = Arc::clone(&pipes.spec.name);
    drop(tracker.spawn(async move {
        let posting = stop.run_until_cancelled(write(poster, queue)).await;
        if let Some(Err(failure)) = posting {
            tracing::warn!(
                upstream = &*name,
                reason = &*failure.reason(),
                "a message was not taken: the stream is given up"
            );
        }
        stop.cancel();
    }));
    drop(tracker.spawn(async move {
        let counted = pipes.spec.status.tally.stream();
        let stop: CancellationToken = pipes.stop.clone();
        stop.run_until_cancelled(read(&pipes, channel)).await;
        pipes.routes.close();
        stop.cancel();
        drop(counted);
        end.0.send_replace(true);
        drop(end);
    }));
}

async fn read(pipes: &Pipes, mut channel: Channel) {
    loop {
        match channel.next().await {
            Ok(Some(text)) => {
                pipes.room().await;
                if !pipes.line(&text) {
                    tracing::debug!(
                        upstream = &*pipes.spec.name,
                        "skipped an event that is no message"
                    );
                }
            }
            Ok(None) => return,
            Err(failure) => {
                let upstream = &*pipes.spec.name;
                return tracing::debug!(
                    upstream,
                    reason = &*failure.reason(),
                    "a stream broke off"
                );
            }
        }
    }
}

/// Posts messages until nobody sends any more, or the server does not take one.
async fn write(poster: Poster, mut queue: mpsc::Receiver<Bytes>) -> Result<(), Failure> {
    let mut posting = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(posted) = posting.next() => posted?,
            text = queue.recv(), if posting.len() < WRITE_QUEUE => {
                let Some(text) = text else { break };
                posting.push(poster.clone().post(text));
                if let Ok(Some(posted)) = timeout(HEAD_START, posting.next()).await {
                    posted?;
                }
            }
        }
    }
    while let Some(posted) = posting.next().await {
        posted?;
    }
    Ok(())
}
