//! Reads lines until the client closes its end.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::writer;
use crate::pipeline::Caller;
use crate::protocol::lines::{Line, Splitter};
use crate::transport::Site;
use crate::transport::duplex::{Client, Output, Sender, Start};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// How long the last lines may take to be read.
const FLUSH: Duration = Duration::from_secs(1);

/// What is served.
#[derive(Debug)]
pub struct Place {
    /// The site of the moment.
    pub site: Arc<ArcSwap<Site>>,
    /// The connector in it.
    pub connector: Arc<str>,
    /// Time for requests in flight to be answered at the end.
    pub grace: Duration,
}

impl Place {
    /// Who started this process, at what is served now.
    fn sender(&self, caller: &Arc<Caller>) -> Sender {
        let caller = Some(Arc::clone(caller));
        Sender { site: self.site.load_full(), caller, credential: None, filters: None, host: None }
    }
}

/// Why nothing is read any more.
enum End {
    /// The client closed its end.
    Input,
    /// The client reads no more: no answer can reach it.
    Output,
    /// plugway stops.
    Stopped,
}

/// Serves the client at these pipes until it closes its end, reads no more, or `stop` is cancelled. Requests in flight
/// are answered within the grace; after the client's end `stop` cuts that short.
pub async fn serve<R, W>(place: Place, input: R, output: W, stop: CancellationToken)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (start, quit, helpers) = (Start::new(), CancellationToken::new(), TaskTracker::new());
    if let Some(endpoint) = place.site.load().endpoint(&place.connector) {
        let watching = start.clone().watch(endpoint.connector.clone());
        let quit = quit.clone();
        helpers.spawn(async move { quit.run_until_cancelled(watching).await });
    }
    let (limit, grace) = (place.site.load().bounds.body, place.grace);
    let (written, queue) = Output::new();
    let writing = helpers.spawn(writer::run(output, queue));
    let (output, caller) = (written, Arc::new(local_caller()));
    let (connector, sender) = (Arc::clone(&place.connector), place.sender(&caller));
    let client = Client::new(connector, &sender, start, output.clone(), quit.clone());
    drop(sender);
    let pipe = Pipe { client: Arc::new(client), place, caller };
    let end = tokio::select! {
        biased;
        () = stop.cancelled() => End::Stopped,
        () = output.closed() => End::Output,
        () = pipe.read(input, limit) => End::Input,
    };
    let client = &pipe.client;
    client.tasks.close();
    client.close_outbox();
    pipe.place.site.load().sessions.close_streams();
    match end {
        End::Input => {
            tracing::info!("the client closed its end");
            stop.run_until_cancelled(answered(client, grace)).await;
        }
        End::Output => tracing::info!("the client reads no more"),
        End::Stopped => answered(client, grace).await,
    }
    quit.cancel();
    client.tasks.wait().await;
    drop((pipe, output));
    if timeout(FLUSH, writing).await.is_err() {
        tracing::debug!("the client did not read its last answers");
    }
}

/// Waits until everything that was asked is answered, within the grace.
async fn answered(client: &Client, grace: Duration) {
    if timeout(grace, client.tasks.wait()).await.is_err() {
        tracing::warn!(requests = client.tasks.len(), "stopped with requests unanswered");
    }
}

/// The client's end of the pipe.
struct Pipe {
    client: Arc<Client>,
    place: Place,
    caller: Arc<Caller>,
}

impl Pipe {
    /// Reads until the client closes its end.
    async fn read<R: AsyncRead + Unpin>(&self, mut input: R, limit: usize) {
        let mut lines = Splitter::new(limit);
        loop {
            while let Some(line) = lines.line() {
                self.take(line, limit).await;
            }
            match input.read_buf(lines.room(CHUNK)).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(%error, "standard input cannot be read");
                    break;
                }
            }
        }
        // The last line may lack its end.
        if let Some(line) = lines.rest() {
            self.take(line, limit).await;
        }
    }

    async fn take(&self, line: Line, limit: usize) {
        let sender = self.place.sender(&self.caller);
        match line {
            Line::Text(text) => self.client.take(sender, text).await,
            Line::TooLong(_) => self.client.too_long(&sender.site, limit).await,
        }
    }
}

/// The user who started this process.
fn local_caller() -> Caller {
    Caller { display: "stdio".into(), anonymous: false, ..Caller::anonymous("stdio") }
}
