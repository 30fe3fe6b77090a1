//! The life of one upstream: connect, read the catalogue, look whether it is still there, try again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::catalogue;
use super::failure::Failure;
use super::limits::{Limits, PROBE};
use super::status::Status;
use super::{backoff, greeting::Greeting};
use crate::pipeline::port::Promise;
use crate::protocol::Message;

/// plugway's own connection to a server, over which catalogues are read: never one of a client.
pub(super) trait Peer: Send + Sync + 'static {
    /// Connects, finds out the era, and introduces plugway.
    fn greet(&self) -> Promise<'_, Result<Greeting, Failure>>;
    /// Asks for one page of a list. `cursor` is JSON text.
    fn list<'a>(
        &'a self,
        method: &'static str,
        cursor: Option<&'a str>,
    ) -> Promise<'a, Result<Message, Failure>>;
    /// Looks whether the server is alive, over what is open already.
    fn check(&self) -> Promise<'_, Result<(), Failure>>;
    /// Ends when the connection is known to be gone; a connectionless peer never ends it.
    fn gone(&self) -> Promise<'_, ()>;
    /// Gives the connection up.
    fn part(&self) -> Promise<'_, ()>;
}

/// Keeps one upstream until plugway stops.
pub(super) struct Keeper<P> {
    pub(super) peer: P,
    pub(super) status: Arc<Status>,
    pub(super) limits: Limits,
    /// How long a connect may take, the era's probe not counted.
    pub(super) patience: Duration,
    pub(super) stop: CancellationToken,
}

impl<P: Peer> Keeper<P> {
    /// Runs until the token is cancelled.
    pub(super) async fn run(self) {
        let stop = self.stop.clone();
        if stop.run_until_cancelled(self.keep()).await.is_none() {
            self.peer.part().await;
        }
    }

    async fn keep(&self) {
        let mut failures: u32 = 0;
        loop {
            let failure = match self.connect().await {
                Ok(offering) => {
                    failures = 0;
                    self.status.connected(offering);
                    self.stay().await
                }
                Err(failure) => failure,
            };
            self.peer.part().await;
            failures = failures.saturating_add(1);
            let wait = backoff::wait(&self.limits, failures, backoff::random());
            self.status.failed(&failure, failures, wait);
            sleep(wait).await;
            self.status.trying();
        }
    }

    async fn connect(&self) -> Result<crate::pipeline::port::Offering, Failure> {
        let limit = self.patience + PROBE;
        let greeting = timeout(limit, self.peer.greet())
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(self.status.name(), limit)))?;
        let limit = self.limits.catalogue;
        timeout(limit, catalogue::read(&self.peer, greeting, self.status.name()))
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(self.status.name(), limit)))
    }

    /// Stays while the server is alive; the failure says what ended it.
    async fn stay(&self) -> Failure {
        loop {
            tokio::select! {
                () = self.peer.gone() => {
                    return Failure::broken(self.status.name(), "ended unexpectedly");
                }
                () = self.status.suspected() => {}
                () = sleep(self.limits.check) => {}
            }
            let limit = self.limits.open;
            let alive = timeout(limit, self.peer.check())
                .await
                .unwrap_or_else(|_| Err(Failure::timeout(self.status.name(), limit)));
            if let Err(failure) = alive {
                return failure;
            }
        }
    }
}
