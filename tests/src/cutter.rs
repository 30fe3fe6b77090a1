//! A way between a client and plugway on which a connection is lost after each message of an event stream.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinHandle,
};

/// How a stream ends for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// As if the server had ended it: the last chunk comes (RFC 9112, section 7.1).
    Ended,
    /// In the middle.
    Broken,
}

/// The way; it ends with this value.
#[derive(Debug)]
pub struct Cutter {
    address: SocketAddr,
    cuts: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Cutter {
    /// Opens a way to this address.
    pub async fn start(to: SocketAddr, cut: Cut) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let cuts = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&cuts);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let counted = Arc::clone(&counted);
                tokio::spawn(async move {
                    // Whoever goes away ends the connection.
                    drop(connection(client, to, cut, &counted).await);
                });
            }
        });
        Ok(Self { address, cuts, task })
    }

    /// The endpoint for clients of a lone connector.
    pub fn mcp_url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// How many connections were lost.
    pub fn cuts(&self) -> u64 {
        self.cuts.load(Ordering::SeqCst)
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn connection(client: TcpStream, to: SocketAddr, cut: Cut, cuts: &AtomicU64) -> Result<()> {
    let server = TcpStream::connect(to).await?;
    let ((mut asking, answering), (answers, mut asked)) =
        (client.into_split(), server.into_split());
    tokio::select! {
        copied = tokio::io::copy(&mut asking, &mut asked) => copied.map(drop)?,
        passed = pass(answers, answering, cut, cuts) => passed?,
    }
    Ok(())
}

/// Hands on what the server says, up to the end of the first event with a message.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    cut: Cut,
    cuts: &AtomicU64,
) -> Result<()> {
    let (mut all, mut sent) = (Vec::new(), 0);
    loop {
        if from.read_buf(&mut all).await? == 0 {
            return Ok(());
        }
        let end = first_message(&all);
        to.write_all(all.get(sent..end.unwrap_or(all.len())).unwrap_or_default()).await?;
        sent = all.len();
        if end.is_some() {
            if cut == Cut::Ended {
                // Each event is a chunk of its own.
                to.write_all(b"\r\n0\r\n\r\n").await?;
            }
            cuts.fetch_add(1, Ordering::SeqCst);
            return Ok(to.shutdown().await?);
        }
    }
}

/// Where the first event ends that has a message.
fn first_message(bytes: &[u8]) -> Option<usize> {
    let find = |from: usize, what: &[u8]| {
        let rest = bytes.get(from..)?;
        let at = rest.windows(what.len()).position(|window| window == what)?;
        Some(from + at + what.len())
    };
    find(find(0, b"\ndata: {")?, b"\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_behind_the_first_event_with_a_message() {
        let text = b"head\r\n\r\nid: 1\ndata:\n\n\r\nid: 2\ndata: {}\n\n\r\nid: 3\ndata: {}\n\n";
        let end = first_message(text).unwrap();
        assert!(text[..end].ends_with(b"id: 2\ndata: {}\n\n"));
        assert_eq!(first_message(&text[..end - 1]), None);
        assert_eq!(first_message(b"{\"data: {\n\n"), None);
    }
}
