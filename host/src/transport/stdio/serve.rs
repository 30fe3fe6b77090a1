//! Reads lines until the client closes its end.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::Client;
use super::output::Output;
use super::start::Start;
use crate::protocol::lines::{Line, Splitter};
use crate::transport::Site;
use crate::transport::site::Endpoint;

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
    /// Where the connector is served now.
    pub(super) fn endpoint<'a>(&self, site: &'a Site) -> Option<&'a Endpoint> {
        site.endpoints.values().find(|endpoint| endpoint.connector.name == self.connector)
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
    if let Some(endpoint) = place.endpoint(&place.site.load()) {
        let watching = start.clone().watch(endpoint.connector.clone());
        let quit = quit.clone();
        helpers.spawn(async move { quit.run_until_cancelled(watching).await });
    }
    let (limit, grace) = (place.site.load().bounds.body, place.grace);
    let (output, writer) = Output::new(output);
    let writing = helpers.spawn(writer.run());
    let client = Arc::new(Client::new(place, start, output.clone(), quit.clone()));
    let end = tokio::select! {
        biased;
        () = stop.cancelled() => End::Stopped,
        () = output.closed() => End::Output,
        () = read(&client, input, limit) => End::Input,
    };
    client.tasks.close();
    client.close_outbox();
    match end {
        End::Input => {
            tracing::info!("the client closed its end");
            stop.run_until_cancelled(answered(&client, grace)).await;
        }
        End::Output => tracing::info!("the client reads no more"),
        End::Stopped => answered(&client, grace).await,
    }
    quit.cancel();
    client.tasks.wait().await;
    drop((client, output));
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

/// Reads until the client closes its end.
async fn read<R: AsyncRead + Unpin>(client: &Arc<Client>, mut input: R, limit: usize) {
    let mut lines = Splitter::new(limit);
    loop {
        while let Some(line) = lines.line() {
            take(client, line, limit).await;
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
        take(client, line, limit).await;
    }
}

async fn take(client: &Arc<Client>, line: Line, limit: usize) {
    match line {
        Line::Text(text) => client.take(text).await,
        Line::TooLong => client.too_long(limit).await,
    }
}
