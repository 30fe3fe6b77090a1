//! What is published about an upstream.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use http::HeaderValue;
use tokio::sync::watch;

use super::bell::Bell;
use super::failure::Failure;
use super::lent::Lent;
use super::tally::Tally;
use super::variants::Variants;
use crate::pipeline::port::{Offering, Phase, Snapshot};
use crate::protocol::Mirrored;

/// The published state, the bell that the keeper hears, and the numbers.
#[derive(Debug)]
pub(super) struct Status {
    name: Arc<str>,
    connector: Arc<str>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    pub(super) bell: Bell,
    pub(super) tally: Arc<Tally>,
    /// Whether the operator took it out. The flag repeats it for requests, which must not wait for a lock.
    out: watch::Sender<bool>,
    is_out: AtomicBool,
    /// How often the catalogue was read. What else was read of the server counts until then.
    reads: watch::Sender<u64>,
    pub(super) variants: Variants,
    /// What is offered to one caller each.
    pub(super) lent: Lent,
    /// Counts what [`Snapshot::variants`] tells of.
    changes: AtomicU64,
}

impl Status {
    pub(super) fn new(name: Arc<str>, connector: Arc<str>) -> Self {
        let snapshot = Snapshot::new(Phase::Disconnected, Instant::now());
        Self {
            name,
            connector,
            snapshot: watch::channel(Arc::new(snapshot)).0,
            bell: Bell::default(),
            tally: Arc::default(),
            out: watch::channel(false).0,
            is_out: AtomicBool::new(false),
            reads: watch::channel(0).0,
            variants: Variants::default(),
            lent: Lent::default(),
            changes: AtomicU64::new(0),
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The connector that it stands behind, for the log.
    pub(super) fn connector(&self) -> &Arc<str> {
        &self.connector
    }

    pub(super) fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.subscribe()
    }

    /// The failure to answer with when the server is known to be away; none while an attempt is under way.
    pub(super) fn away(&self) -> Option<Failure> {
        self.usable().err().or_else(|| {
            let snapshot = self.snapshot.borrow();
            let failure = match snapshot.next_attempt {
                Some(next) => {
                    Failure::away(&self.name, next.saturating_duration_since(Instant::now()))
                }
                None if snapshot.given_up => Failure::given_up(&self.name),
                None => return None,
            };
            Some(match &snapshot.reason {
                Some(reason) => failure.because(reason),
                None => failure,
            })
        })
    }

    /// Fails while the operator has it taken out.
    pub(super) fn usable(&self) -> Result<(), Failure> {
        if self.is_out.load(Relaxed) { Err(Failure::disabled(&self.name)) } else { Ok(()) }
    }

    /// The operator takes it out, or puts it back. The keeper does the rest.
    pub(super) fn take_out(&self, out: bool) {
        self.is_out.store(out, Relaxed);
        self.out.send_if_modified(|now| std::mem::replace(now, out) != out);
    }

    /// Whether it is taken out, and every change of that.
    pub(super) fn out(&self) -> watch::Receiver<bool> {
        self.out.subscribe()
    }

    /// The catalogue was read after a connect.
    pub(super) fn connected(&self, offering: Offering) {
        if offering.veiled.is_none() {
            tracing::info!(
                connector = &*self.connector,
                upstream = &*self.name,
                server = &*offering.server_name,
                tools = offering.tools.len(),
                prompts = offering.prompts.len(),
                resources = offering.resources.len(),
                templates = offering.templates.len(),
                "connected"
            );
        }
        self.tell_veiled(&offering);
        self.warn_left_out(self.snapshot.borrow().offering.as_deref(), &offering);
        self.snapshot.send_modify(|snapshot| {
            let variants = self.count_reading();
            *snapshot = Arc::new(Snapshot {
                offering: Some(same_or_new(snapshot, offering)),
                variants,
                ..Snapshot::new(Phase::Connected, Instant::now())
            });
        });
    }

    /// The catalogue was read again. One that is the same changes nothing, not even for who compares by address; but what
    /// clients with other capabilities are offered may be something else.
    pub(super) fn renewed(&self, offering: Offering) {
        self.warn_left_out(self.snapshot.borrow().offering.as_deref(), &offering);
        self.tell_veiled(&offering);
        let kept = self.variants.are_kept() || self.lent.are_kept();
        let mut changed = false;
        self.snapshot.send_if_modified(|snapshot| {
            let variants = self.count_reading();
            changed = snapshot.offering.as_deref() != Some(&offering);
            if !changed && !kept {
                return false;
            }
            let mut now = Snapshot { variants, ..Snapshot::clone(snapshot) };
            if changed {
                now.offering = Some(Arc::new(offering));
            }
            *snapshot = Arc::new(now);
            true
        });
        if changed {
            tracing::info!(
                connector = &*self.connector,
                upstream = &*self.name,
                "the catalogue changed"
            );
        }
    }

    /// The catalogue was read: another number for its variants. Counted while the snapshot is being changed, so that whoever
    /// sees one of both sees both.
    fn count_reading(&self) -> u64 {
        self.lent.sweep(tokio::time::Instant::now());
        self.reads.send_modify(|reads| *reads += 1);
        self.changes.fetch_add(1, Relaxed) + 1
    }

    /// How often the catalogue was read.
    pub(super) fn reads(&self) -> u64 {
        *self.reads.borrow()
    }

    /// Waits until the catalogue was read another time; false where that takes too long.
    pub(super) async fn read_again(&self, reads: u64, limit: Duration) -> bool {
        let mut now = self.reads.subscribe();
        let read = now.wait_for(|now| *now > reads);
        tokio::time::timeout(limit, read).await.is_ok_and(|read| read.is_ok())
    }

    /// What clients with certain capabilities are offered is something else now.
    pub(super) fn variants_changed(&self) {
        let variants = self.changes.fetch_add(1, Relaxed) + 1;
        self.snapshot.send_modify(|snapshot| {
            *snapshot = Arc::new(Snapshot { variants, ..Snapshot::clone(snapshot) });
        });
    }

    /// The server did not accept this credential of a caller: what it offers to the caller is looked at again.
    pub(super) fn doubt(&self, credential: &HeaderValue) {
        if self.lent.doubt(credential) {
            self.variants_changed();
        }
    }

    /// Whether it can be used, and what it offered last; none where it never answered.
    pub(super) fn offering(&self) -> Option<(Phase, Arc<Offering>)> {
        let snapshot = self.snapshot.borrow();
        Some((snapshot.phase, snapshot.offering.clone()?))
    }

    /// Whether it runs code, as far as is known.
    pub(super) fn runs_code(&self) -> bool {
        self.snapshot.borrow().offering.as_ref().is_some_and(|offering| offering.runs_code)
    }

    /// The arguments of a tool that travel in headers, too, by the server's own name of the tool; none where there are none.
    /// `credential` is that of the caller.
    pub(super) fn mirrored(
        &self,
        tool: &str,
        credential: Option<&HeaderValue>,
    ) -> Option<Arc<[Mirrored]>> {
        let known = {
            let snapshot = self.snapshot.borrow();
            snapshot.offering.as_ref()?.mirrored.get(tool).cloned()
        };
        known
            .or_else(|| self.variants.mirrored(tool))
            .or_else(|| self.lent.mirrored(tool, credential?))
    }

    /// It is away; the next attempt is due after `wait`, or not at all. What it offered last stays known.
    pub(super) fn failed(&self, failure: &Failure, attempt: u32, wait: Option<Duration>) {
        let (reason, connector) = (failure.reason(), &*self.connector);
        let upstream = &*self.name;
        match wait {
            Some(wait) => {
                tracing::warn!(
                    connector,
                    upstream,
                    attempt,
                    ?wait,
                    reason = &*reason,
                    "not connected"
                );
            }
            None => {
                tracing::error!(
                    connector,
                    upstream,
                    attempt,
                    reason = &*reason,
                    "given up; it is not tried again until somebody asks for it"
                );
            }
        }
        let now = Instant::now();
        self.snapshot.send_modify(|snapshot| {
            let phase = match snapshot.phase {
                _ if wait.is_none() => Phase::Disconnected,
                Phase::Disconnected => Phase::Disconnected,
                Phase::Connected | Phase::Reconnecting => Phase::Reconnecting,
            };
            // Away since it left, whatever is done about it.
            let since = if snapshot.phase == Phase::Connected { now } else { snapshot.since };
            *snapshot = Arc::new(Snapshot {
                attempt,
                next_attempt: wait.map(|wait| now + wait),
                given_up: wait.is_none(),
                reason: Some(reason),
                why: Some(failure.code()),
                offering: snapshot.offering.clone(),
                variants: snapshot.variants,
                ..Snapshot::new(phase, since)
            });
        });
    }

    /// The attempt that was due begins.
    pub(super) fn trying(&self) {
        self.snapshot.send_modify(|snapshot| {
            let mut now = Snapshot::clone(snapshot);
            now.next_attempt = None;
            now.given_up = false;
            *snapshot = Arc::new(now);
        });
    }

    /// The keeper let go of it, or begins anew.
    pub(super) fn disabled(&self, disabled: bool) {
        let word = if disabled { "taken out" } else { "put back" };
        tracing::info!(connector = &*self.connector, upstream = &*self.name, "{word}");
        self.snapshot.send_modify(|snapshot| {
            let since = if disabled { Instant::now() } else { snapshot.since };
            let reason = disabled.then(|| "its operator took it out".into());
            *snapshot = Arc::new(Snapshot {
                reason,
                disabled,
                offering: snapshot.offering.clone(),
                variants: snapshot.variants,
                ..Snapshot::new(Phase::Disconnected, since)
            });
        });
    }
}

fn same_or_new(snapshot: &Snapshot, offering: Offering) -> Arc<Offering> {
    match &snapshot.offering {
        Some(known) if **known == offering => Arc::clone(known),
        _ => Arc::new(offering),
    }
}
