//! How a connected upstream is watched over: health checks, and reads of its catalogue.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::backoff;
use super::bell::Rung;
use super::catalogue::Catalogue;
use super::failure::Failure;
use super::greeting::Greeting;
use super::keeper::{Keeper, Peer, Pulse};
use super::limits::{Limits, QUICK, READ_GAP, SUSPICION_GAP, TTL_MIN};
use crate::chance;

/// One at a time is done: a check, a read, or opening plugway's own connection again.
pub(super) struct Vigil<'a, P> {
    keeper: &'a Keeper<P>,
    greeting: Greeting,
    /// Failed checks in a row. A failed request of a client counts as one until the next look.
    failed: u32,
    /// Failed reads in a row.
    unread: u32,
    /// plugway's own session is gone: it is opened again before anything else.
    forgotten: bool,
    /// The server answers nobody but callers: whether that is still so is asked as at the start.
    veiled: bool,
    /// The next look asks over the session.
    closely: bool,
    looked: Instant,
    check_at: Instant,
    read: Instant,
    read_at: Instant,
}

impl<'a, P: Peer> Vigil<'a, P> {
    /// Begins when the catalogue was just read.
    pub(super) fn new(keeper: &'a Keeper<P>, greeting: Greeting, catalogue: &Catalogue) -> Self {
        let now = Instant::now();
        Self {
            keeper,
            greeting,
            failed: 0,
            unread: 0,
            forgotten: false,
            veiled: catalogue.offering.veiled.is_some(),
            closely: false,
            looked: now,
            check_at: now + interval(&keeper.limits),
            read: now,
            read_at: now + refresh(&keeper.limits, catalogue.ttl),
        }
    }

    /// Watches until the server counts as away; the failure says why.
    pub(super) async fn run(mut self) -> Failure {
        loop {
            self.pause().await;
            let done = if self.forgotten {
                self.remember().await
            } else if self.read_at <= Instant::now() {
                self.read().await
            } else {
                self.look().await
            };
            let wait = match done {
                Ok(()) => {
                    self.failed = 0;
                    interval(&self.keeper.limits)
                }
                Err(failure) => {
                    self.failed = self.failed.saturating_add(1);
                    if self.failed >= self.keeper.limits.down_after {
                        return failure;
                    }
                    let reason = &*failure.reason();
                    tracing::debug!(
                        upstream = &**self.keeper.status.name(),
                        reason,
                        "a check failed"
                    );
                    QUICK
                }
            };
            self.check_at = Instant::now() + wait;
        }
    }

    /// Until something is due.
    async fn pause(&mut self) {
        loop {
            let due = if self.forgotten { self.check_at } else { self.check_at.min(self.read_at) };
            tokio::select! {
                // What is due comes first: a server that never stops telling of changes must not keep it off.
                biased;
                () = sleep_until(due) => return,
                rung = self.keeper.status.bell.answer() => self.note(rung),
            }
        }
    }

    fn note(&mut self, rung: Rung) {
        let now = Instant::now();
        if rung.server() {
            self.failed = self.failed.max(1);
        }
        if rung.server() || rung.session() {
            self.closely = true;
            self.check_at = self.check_at.min(now.max(self.looked + SUSPICION_GAP));
        }
        if rung.changed() {
            self.read_at = self.read_at.min(now.max(self.read + READ_GAP));
        }
        if rung.now() {
            (self.read_at, self.check_at) = (now, self.check_at.min(now));
        }
    }

    async fn look(&mut self) -> Result<(), Failure> {
        let closely = std::mem::take(&mut self.closely);
        let pulse = self.keeper.look(closely).await;
        self.looked = Instant::now();
        match pulse {
            Ok(Pulse::Alive) => Ok(()),
            Ok(Pulse::Forgotten) => {
                self.forgotten = true;
                self.remember().await
            }
            Err(failure) => {
                self.closely = closely;
                Err(failure)
            }
        }
    }

    /// Opens plugway's own connection again: for clients nothing has happened.
    async fn remember(&mut self) -> Result<(), Failure> {
        let (greeting, catalogue) = self.keeper.connect().await?;
        self.forgotten = false;
        self.greeting = greeting;
        self.is_read(&catalogue);
        self.keeper.status.renewed(catalogue.offering);
        Ok(())
    }

    async fn read(&mut self) -> Result<(), Failure> {
        let read = if self.veiled {
            Box::pin(self.keeper.connect()).await
        } else {
            let read = self.keeper.read(&self.greeting).await;
            read.map(|catalogue| (self.greeting.clone(), catalogue))
        };
        match read {
            Ok((greeting, catalogue)) => {
                self.greeting = greeting;
                self.is_read(&catalogue);
                self.keeper.status.renewed(catalogue.offering);
                Ok(())
            }
            Err(failure) => {
                // What is known stays. The next look says whether the session is at fault.
                self.unread = self.unread.saturating_add(1);
                self.closely = true;
                self.read = Instant::now();
                let step = self.unread.saturating_add(1);
                let wait = backoff::wait(&self.keeper.limits, step, chance::byte());
                self.read_at = self.read + wait.max(QUICK * 2);
                tracing::warn!(
                    connector = &**self.keeper.status.connector(),
                    upstream = &**self.keeper.status.name(),
                    reason = &*failure.reason(),
                    "the catalogue could not be read again"
                );
                Err(failure)
            }
        }
    }

    fn is_read(&mut self, catalogue: &Catalogue) {
        self.veiled = catalogue.offering.veiled.is_some();
        self.unread = 0;
        self.read = Instant::now();
        self.read_at = self.read + refresh(&self.keeper.limits, catalogue.ttl);
    }
}

/// Time to the next check: a little less than the interval, so that the checks of many upstreams spread.
fn interval(limits: &Limits) -> Duration {
    limits.check.mul_f64(1.0 - f64::from(chance::byte()) / 2550.0)
}

/// Time after which a catalogue is read again. A `ttlMs` of 0 says that nothing may be kept without asking; who keeps
/// catalogues cannot do more than listen for changes then.
fn refresh(limits: &Limits, ttl: Option<Duration>) -> Duration {
    match ttl {
        Some(ttl) if !ttl.is_zero() => ttl.max(TTL_MIN).min(limits.refresh),
        _ => limits.refresh,
    }
}
