//! The listener of the moment: it can be replaced while plugway runs.

use std::net::SocketAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::error::StartError;
use crate::config::Settings;
use crate::listener::{self, ListenerLimits};
use crate::outbound::{Listed, OwnListeners};
use crate::transport::Site;

/// An address that is ours, and nothing is served on it yet.
pub(super) struct Bound {
    address: SocketAddr,
    listener: TcpListener,
    listed: Listed,
}

/// An address that is served.
pub(super) struct Listening {
    /// The address as configured.
    pub(super) address: SocketAddr,
    stop: CancellationToken,
    accepting: JoinHandle<()>,
    _listed: Listed,
}

impl Bound {
    /// Takes an address.
    pub(super) async fn take(address: SocketAddr, own: &OwnListeners) -> Result<Self, StartError> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| StartError::Listen { address, source })?;
        let listed = own.add(listener.local_addr().unwrap_or(address));
        Ok(Self { address, listener, listed })
    }

    /// Takes connections from now on.
    pub(super) fn serve(self, settings: &Settings, site: Arc<ArcSwap<Site>>) -> Listening {
        let limits = ListenerLimits {
            connections: settings.limits.max_connections,
            head_time: settings.limits.header_timeout,
            drain_time: settings.limits.shutdown_grace,
        };
        let bound = self.listener.local_addr().unwrap_or(self.address);
        tracing::info!(address = %bound, "listening");
        let stop = CancellationToken::new();
        let accepting = listener::serve(self.listener, site, limits, stop.clone());
        #[expect(clippy::disallowed_methods, reason = "it is awaited in `end`")]
        let accepting = tokio::spawn(accepting);
        Listening { address: self.address, stop, accepting, _listed: self.listed }
    }
}

impl Listening {
    /// Takes no more connections, and lets requests in flight end within their time.
    pub(super) async fn end(self) {
        self.stop.cancel();
        if let Err(error) = self.accepting.await {
            tracing::error!(%error, "the listener broke off");
        }
    }
}
