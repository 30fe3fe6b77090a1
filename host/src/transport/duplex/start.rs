//! The first questions wait for servers that are just starting.
//!
//! A client that starts plugway starts its servers with it, and asks for their tools at once. Many clients ask only once.
//! So what depends on the catalogue waits until every server has answered or failed for the first time, within a
//! bound; what comes later is told by notifications. An HTTP listener needs no such wait, since whoever starts it asks
//! `/ready`.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::pipeline::Connector;
use crate::pipeline::port::Phase;
use crate::protocol::Method;

/// How long the handshakes wait: clients take a slow answer to them for a server of another era.
const GREETING: Duration = Duration::from_secs(2);
/// How long everything else waits, from the same moment on.
const REST: Duration = Duration::from_secs(10);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Whether the servers had their chance.
#[derive(Clone, Debug)]
pub(in crate::transport) struct Start {
    settled: CancellationToken,
    began: Instant,
}

impl Start {
    /// Nothing is settled yet.
    pub(in crate::transport) fn new() -> Self {
        Self { settled: CancellationToken::new(), began: Instant::now() }
    }

    /// Nobody waits: whoever came could ask `/ready` before.
    pub(in crate::transport) fn settled() -> Self {
        let start = Self::new();
        start.settled.cancel();
        start
    }

    /// Looks until every server was tried.
    pub(in crate::transport) async fn watch(self, connector: Arc<Connector>) {
        while self.began.elapsed() < REST && !settled(&connector) {
            sleep(LOOK).await;
        }
        self.settled.cancel();
    }

    /// Waits as long as a request of this method may.
    pub(super) async fn wait(&self, method: Method) {
        let most = match method {
            Method::Ping => return,
            Method::Initialize | Method::Discover => GREETING,
            _ => REST,
        };
        if timeout_at(self.began + most, self.settled.cancelled()).await.is_err() {
            tracing::debug!(method = method.as_str(), "answered before every server was there");
        }
    }
}

/// Whether every server was tried, and the catalogue holds what those that answered offer.
fn settled(connector: &Connector) -> bool {
    let mut answered = false;
    for served in &connector.upstreams {
        let watch = served.upstream.watch();
        let snapshot = watch.borrow();
        if !snapshot.was_tried() {
            return false;
        }
        answered |= snapshot.phase == Phase::Connected;
    }
    !answered || connector.serves()
}
