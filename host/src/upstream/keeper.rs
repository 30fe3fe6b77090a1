//! The life of one upstream: connect, read the catalogue, watch over it, try again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::backoff;
use super::catalogue::{self, Catalogue};
use super::documents::Document;
use super::failure::Failure;
use super::greeting::Greeting;
use super::limits::{Limits, PROBE, QUICK, STEADY};
use super::status::Status;
use super::vigil::Vigil;
use crate::chance;
use crate::pipeline::port::{Phase, Promise};
use crate::protocol::Message;

/// A connection of plugway's own over which lists are read: never one of a client.
pub(super) trait Lists: Send + Sync + 'static {
    /// Asks for one page of a list. `cursor` is JSON text.
    fn list<'a>(
        &'a self,
        method: &'static str,
        cursor: Option<&'a str>,
    ) -> Promise<'a, Result<Message, Failure>>;
    /// Whether what it sends has headers, in which arguments of tools may have to be repeated.
    fn sends_headers(&self) -> bool;
    /// Asks for the catalogue of functions; none where there is no such thing.
    fn catalog(&self) -> Promise<'_, Option<Document>> {
        Box::pin(std::future::ready(None))
    }
}

/// plugway's own connection to a server, which lasts.
pub(super) trait Peer: Lists {
    /// Connects, finds out the era, and introduces plugway. What was open before is given up.
    fn greet(&self) -> Promise<'_, Result<Greeting, Failure>>;
    /// Looks whether the server is alive; opens no session for it. `closely` asks over plugway's own session even where
    /// there is a simpler way.
    fn check(&self, closely: bool) -> Promise<'_, Result<Pulse, Failure>>;
    /// Listens for changes as long as it is polled, and rings when one is told.
    fn listen(&self) -> Promise<'_, Infallible>;
    /// Ends when the connection is known to be gone; a connectionless peer never ends it.
    fn gone(&self) -> Promise<'_, ()>;
    /// Gives the connection up.
    fn part(&self) -> Promise<'_, ()>;
}

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pulse {
    /// The server is alive.
    Alive,
    /// The server is alive and has forgotten plugway's own session.
    Forgotten,
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
        if stop.run_until_cancelled(self.serve()).await.is_none() {
            self.peer.part().await;
        }
    }

    /// Keeps it while the operator wants it.
    async fn serve(&self) {
        let mut out = self.status.out();
        loop {
            let taken_out = async { out.wait_for(|out| *out).await.is_ok() };
            tokio::select! {
                biased;
                known = taken_out => if !known { return },
                never = self.keep() => match never {},
            }
            self.status.disabled(true);
            self.peer.part().await;
            if out.wait_for(|out| !*out).await.is_err() {
                return;
            }
            self.status.disabled(false);
        }
    }

    async fn keep(&self) -> Infallible {
        let mut failures: u32 = 0;
        // Connections in a row that did not last: they lengthen the wait without counting as attempts.
        let mut brief: u32 = 0;
        loop {
            self.status.bell.clear();
            let failure = match self.come().await {
                Ok((greeting, catalogue)) => {
                    failures = 0;
                    let since = Instant::now();
                    let vigil = Vigil::new(self, greeting, &catalogue);
                    self.status.connected(catalogue.offering);
                    let failure = self.stay(vigil).await;
                    brief = if since.elapsed() < STEADY { brief.saturating_add(1) } else { 0 };
                    failure
                }
                Err(failure) => failure,
            };
            failures = failures.saturating_add(1);
            self.rest(&failure, failures, brief).await;
            self.status.trying();
        }
    }

    /// Connects, and makes sure of a server that was away before.
    async fn come(&self) -> Result<(Greeting, Catalogue), Failure> {
        let come = self.connect().await?;
        if self.status.watch().borrow().phase == Phase::Reconnecting {
            for _ in 1..self.limits.up_after {
                sleep(QUICK).await;
                self.look(false).await?;
            }
        }
        Ok(come)
    }

    /// Opens plugway's own connection, and reads the catalogue over it. A server that answers nobody but callers is there
    /// all the same.
    pub(super) async fn connect(&self) -> Result<(Greeting, Catalogue), Failure> {
        match self.introduced().await {
            Err(failure) if failure.wants_callers() => {
                Ok((Greeting::default(), self.veiled(&failure).await))
            }
            come => come,
        }
    }

    async fn introduced(&self) -> Result<(Greeting, Catalogue), Failure> {
        let limit = self.patience + PROBE;
        let greeting = timeout(limit, self.peer.greet())
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(self.status.name(), limit)))?;
        let catalogue = self.read(&greeting).await?;
        Ok((greeting, catalogue))
    }

    /// Reads the catalogue over the connection that is open.
    pub(super) async fn read(&self, greeting: &Greeting) -> Result<Catalogue, Failure> {
        let limit = self.limits.catalogue;
        let read = timeout(limit, catalogue::read(&self.peer, greeting, self.status.name()))
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(self.status.name(), limit)));
        let read = match read {
            Err(failure) if failure.wants_callers() => self.veiled(&failure).await,
            read => read?,
        };
        self.status.tally.read();
        Ok(read)
    }

    /// plugway has nothing to say there: what was open is given up.
    async fn veiled(&self, failure: &Failure) -> Catalogue {
        self.peer.part().await;
        Catalogue::veiled(failure.public().clone())
    }

    /// Looks once whether the server is alive.
    pub(super) async fn look(&self, closely: bool) -> Result<Pulse, Failure> {
        let limit = self.limits.check_timeout;
        timeout(limit, self.peer.check(closely))
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(self.status.name(), limit)))
    }

    /// Stays while the server is alive; the failure says what ended it.
    async fn stay(&self, vigil: Vigil<'_, P>) -> Failure {
        tokio::select! {
            biased;
            () = self.peer.gone() => Failure::broken(self.status.name(), "ended unexpectedly"),
            failure = vigil.run() => failure,
            never = self.peer.listen() => match never {},
        }
    }

    /// Says that it is away, cleans up, and waits for the next attempt.
    async fn rest(&self, failure: &Failure, failures: u32, brief: u32) {
        let last = self.limits.attempts.is_some_and(|attempts| failures >= attempts);
        let step = failures.saturating_add(brief);
        let wait = (!last).then(|| backoff::wait(&self.limits, step, chance::byte()));
        self.status.failed(failure, failures, wait);
        let due = async {
            match wait {
                Some(wait) => sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        let asked = async { while !self.status.bell.answer().await.now() {} };
        let waited = async {
            tokio::select! {
                () = due => {}
                () = asked => {}
            }
        };
        tokio::join!(self.peer.part(), waited);
    }
}
