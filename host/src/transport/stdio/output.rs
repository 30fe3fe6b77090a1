//! Writes messages as lines.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use crate::protocol::lines::one_line;

/// Messages that wait for the client to read; further ones wait where they come from.
const QUEUE: usize = 64;

/// Where messages to the client go.
#[derive(Clone, Debug)]
pub(super) struct Output(mpsc::Sender<Bytes>);

/// The other end: writes until every [`Output`] is gone, or the client reads no more.
#[derive(Debug)]
pub(super) struct Writer<W> {
    to: W,
    queue: mpsc::Receiver<Bytes>,
}

impl Output {
    pub(super) fn new<W>(to: W) -> (Self, Writer<W>) {
        let (sender, queue) = mpsc::channel(QUEUE);
        (Self(sender), Writer { to, queue })
    }

    /// Queues a message, and waits for room. When the client reads no more it goes nowhere.
    pub(super) async fn send(&self, message: Bytes) {
        if self.0.send(message).await.is_err() {
            tracing::trace!("a message for a client that is gone");
        }
    }

    /// Waits until the client reads no more.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(super) async fn run(mut self) {
        if let Err(error) = self.write().await {
            tracing::debug!(%error, "the client reads no more");
        }
    }

    async fn write(&mut self) -> io::Result<()> {
        while let Some(message) = self.queue.recv().await {
            self.to.write_all(&one_line(&message)).await?;
            if self.queue.is_empty() {
                self.to.flush().await?;
            }
        }
        self.to.flush().await
    }
}
