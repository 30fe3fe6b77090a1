//! The way of answers to a child's own requests into its standard input.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use super::child::Spec;
use crate::upstream::limits::{REPLIES, REPLY};

/// Takes answers. It does not keep the child alive.
#[derive(Clone)]
pub(super) struct Replies {
    spec: Arc<Spec>,
    queue: mpsc::WeakSender<Bytes>,
    /// How many more may wait for their turn.
    room: Arc<Semaphore>,
}

impl Replies {
    pub(super) fn new(spec: &Arc<Spec>, writer: &mpsc::Sender<Bytes>) -> Self {
        let room = Arc::new(Semaphore::new(REPLIES));
        Self { spec: Arc::clone(spec), queue: writer.downgrade(), room }
    }

    /// Queues an answer; where the child is slow to read, it waits for its turn in the background. A child that ended waits
    /// for nothing.
    pub(super) fn send(&self, text: Bytes) {
        let Some(queue) = self.queue.upgrade() else { return };
        let Err(TrySendError::Full(text)) = queue.try_send(text) else { return };
        let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
            return tracing::debug!(
                upstream = &*self.spec.name,
                "it asks and does not read answers"
            );
        };
        let name = Arc::clone(&self.spec.name);
        drop(self.spec.tracker.spawn(async move {
            if timeout(REPLY, queue.send(text)).await.is_err() {
                tracing::warn!(upstream = &*name, "an answer to the server's request was lost");
            }
            drop(place);
        }));
    }
}
