//! The accept loop.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::route::route;
use super::taken::Taken;
use crate::transport::Site;

/// How long a client may take nothing of an answer that waits for it: as long as a server may pause in one.
const TAKE_TIME: Duration = Duration::from_mins(1);

/// Bounds of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerLimits {
    /// Connections at once; one more waits in the system's queue.
    pub connections: usize,
    /// Time for the head of a request to arrive, idle time before it included.
    pub head_time: Duration,
    /// Time for requests in flight to end when plugway stops.
    pub drain_time: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            head_time: Duration::from_mins(2),
            drain_time: Duration::from_secs(5),
        }
    }
}

/// Serves the site of the moment until `stop` is cancelled, then lets requests in flight end.
pub async fn serve(
    listener: TcpListener,
    site: Arc<ArcSwap<Site>>,
    limits: ListenerLimits,
    stop: CancellationToken,
) {
    let permits = Arc::new(Semaphore::new(limits.connections));
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let Some((stream, permit)) = accepted else { continue };
        let (site, stop) = (site.clone(), stop.clone());
        let counted = site.load().counts.connections.hold();
        tasks.spawn(async move {
            connection(stream, site, limits, stop).await;
            drop((permit, counted));
        });
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(limits.drain_time, tasks.wait()).await.is_err() {
        tracing::warn!(connections = tasks.len(), "stopped with connections still open");
    }
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = permits.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(error) => {
            // Out of file descriptors, or the peer went away: neither ends the listener.
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

async fn connection(
    stream: TcpStream,
    site: Arc<ArcSwap<Site>>,
    limits: ListenerLimits,
    stop: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no delay could not be set");
    }
    let service = service_fn(move |request| {
        let site = site.load_full();
        // Boxed, so that the connection does not carry the room for a request about.
        let answered = Box::pin(route(site, request));
        async move { Ok::<_, Infallible>(answered.await) }
    });
    let mut connection = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_time)
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(Taken::new(stream, TAKE_TIME)), service)
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}
