//! Messages on their way to a client.

use bytes::Bytes;
use tokio::sync::mpsc;

/// Messages that wait for the client to read; further ones wait where they come from.
const QUEUE: usize = 64;

/// Where messages to the client go.
#[derive(Clone, Debug)]
pub(in crate::transport) struct Output(mpsc::Sender<Bytes>);

impl Output {
    /// The other end gives the messages one after the other.
    pub(in crate::transport) fn new() -> (Self, mpsc::Receiver<Bytes>) {
        let (sender, queue) = mpsc::channel(QUEUE);
        (Self(sender), queue)
    }

    /// Queues a message, and waits for room. When the client reads no more it goes nowhere.
    pub(in crate::transport) async fn send(&self, message: Bytes) {
        if self.0.send(message).await.is_err() {
            tracing::trace!("a message for a client that is gone");
        }
    }

    /// Waits until the client reads no more.
    pub(in crate::transport) async fn closed(&self) {
        self.0.closed().await;
    }
}
