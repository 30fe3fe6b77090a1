//! What is published about an upstream.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use super::failure::Failure;
use crate::pipeline::port::{Offering, Phase, Snapshot};

/// The published state, and the bell by which requests tell the keeper that something looks wrong.
#[derive(Debug)]
pub(super) struct Status {
    name: Arc<str>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    suspicion: Notify,
}

impl Status {
    pub(super) fn new(name: Arc<str>) -> Self {
        let snapshot = Snapshot {
            phase: Phase::Disconnected,
            since: Instant::now(),
            attempt: 0,
            next_attempt: None,
            reason: None,
            why: None,
            disabled: false,
            offering: None,
        };
        Self { name, snapshot: watch::channel(Arc::new(snapshot)).0, suspicion: Notify::new() }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.subscribe()
    }

    /// A request could not reach the server: the keeper looks at once.
    pub(super) fn suspect(&self) {
        self.suspicion.notify_one();
    }

    /// Waits until a request reports that the server looks dead.
    pub(super) async fn suspected(&self) {
        self.suspicion.notified().await;
    }

    /// The failure to answer with when the server is known to be away; none while an attempt is under way.
    pub(super) fn away(&self) -> Option<Failure> {
        let snapshot = self.snapshot.borrow();
        let next = snapshot.next_attempt?.saturating_duration_since(Instant::now());
        let failure = Failure::away(&self.name, next);
        Some(match &snapshot.reason {
            Some(reason) => failure.because(reason),
            None => failure,
        })
    }

    /// The catalogue was read.
    pub(super) fn connected(&self, offering: Offering) {
        tracing::info!(
            upstream = &*self.name,
            server = &*offering.server_name,
            tools = offering.tools.len(),
            prompts = offering.prompts.len(),
            resources = offering.resources.len(),
            templates = offering.templates.len(),
            "connected"
        );
        self.snapshot.send_replace(Arc::new(Snapshot {
            phase: Phase::Connected,
            since: Instant::now(),
            attempt: 0,
            next_attempt: None,
            reason: None,
            why: None,
            disabled: false,
            offering: Some(Arc::new(offering)),
        }));
    }

    /// An attempt failed; the next one is due after `wait`. What it offered last stays known.
    pub(super) fn failed(&self, failure: &Failure, attempt: u32, wait: Duration) {
        let reason = failure.reason();
        tracing::warn!(upstream = &*self.name, attempt, ?wait, reason = &*reason, "not connected");
        let now = Instant::now();
        self.snapshot.send_modify(|snapshot| {
            let phase = match snapshot.phase {
                Phase::Disconnected => Phase::Disconnected,
                Phase::Connected | Phase::Reconnecting => Phase::Reconnecting,
            };
            let since = if phase == snapshot.phase { snapshot.since } else { now };
            *snapshot = Arc::new(Snapshot {
                phase,
                since,
                attempt,
                next_attempt: Some(now + wait),
                reason: Some(reason),
                why: Some(failure.code()),
                disabled: false,
                offering: snapshot.offering.clone(),
            });
        });
    }

    /// The attempt that was due begins.
    pub(super) fn trying(&self) {
        self.snapshot.send_modify(|snapshot| {
            let mut now = Snapshot::clone(snapshot);
            now.next_attempt = None;
            *snapshot = Arc::new(now);
        });
    }
}
