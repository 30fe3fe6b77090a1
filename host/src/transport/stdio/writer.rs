//! Writes messages as lines.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use crate::protocol::lines::one_line;

/// Writes until nobody sends any more, or the client reads no more.
pub(in crate::transport) async fn run<W: AsyncWrite + Unpin>(to: W, queue: mpsc::Receiver<Bytes>) {
    if let Err(error) = write(to, queue).await {
        tracing::debug!(%error, "the client reads no more");
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut to: W,
    mut queue: mpsc::Receiver<Bytes>,
) -> io::Result<()> {
    while let Some(message) = queue.recv().await {
        to.write_all(&one_line(&message)).await?;
        if queue.is_empty() {
            to.flush().await?;
        }
    }
    to.flush().await
}
