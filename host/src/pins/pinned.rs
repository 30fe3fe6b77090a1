//! Stands before an upstream: what is held back is in nothing that it gives, and no call of it passes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::file::PATIENCE;
use super::judge::{Finding, Judged, Looked, Subject, glance, judge};
use super::ledger::{Ledger, Note};
use super::seen::{Compared, Seen};
use super::sights::Sights;
use super::withheld;
use crate::fault::Fault;
use crate::pipeline::held;
use crate::pipeline::level::Level;
use crate::pipeline::party::{Party, PartyId};
use crate::pipeline::port::{
    Answer, Control, File, FileOrder, Lender, Numbers, Offering, Order, Phase, Promise, Snapshot,
    Upstream, Variant,
};
use crate::protocol::Message;

/// What a server offers to some clients or callers is remembered of so many of them; of one more it is compared again.
const OTHERS: usize = 256;
/// How long the list of some clients or callers waits while another process writes the file. What everybody is shown is compared
/// beside all requests, and no call waits.
const BRIEF: Duration = Duration::from_millis(200);
/// After what time it is compared again where what was seen could not be written down.
const AGAIN: Duration = Duration::from_secs(2);
/// What the log said already of one upstream; then it may say it again.
const LOGGED: usize = 4_096;

/// An upstream whose definitions are pinned.
pub struct Pinned {
    raw: Arc<dyn Upstream>,
    core: Arc<Core>,
    shown: watch::Receiver<Arc<Snapshot>>,
    _following: DropGuard,
}

struct Core {
    subject: Subject,
    ledger: Arc<Ledger>,
    /// Stands for it in the ledger.
    speaker: u64,
    raw: watch::Receiver<Arc<Snapshot>>,
    changes: watch::Receiver<u64>,
    seen: Mutex<Seen>,
    sights: Arc<Mutex<Sights>>,
    /// Who has it compares what is shown to some; the others wait for what it finds.
    turn: tokio::sync::Mutex<()>,
    /// What calls heard of an offering that is not compared yet.
    glanced: tokio::sync::Mutex<Option<Compared>>,
}

impl Pinned {
    /// Stands before this upstream until it is dropped.
    pub fn new(
        raw: Arc<dyn Upstream>,
        subject: Subject,
        ledger: &Arc<Ledger>,
        (stop, tasks): (&CancellationToken, &TaskTracker),
    ) -> Self {
        let (changes, watched) = (ledger.changes(), raw.watch());
        let mut first = Snapshot::clone(&watched.borrow());
        // Nothing is shown that was not compared; until then it is as one that is starting.
        if first.offering.take().is_some() {
            (first.phase, first.attempt, first.disabled) = (Phase::Reconnecting, 0, false);
        }
        let (show, shown) = watch::channel(Arc::new(first));
        let (speaker, ledger) = (ledger.speaker(), ledger.clone());
        let core = Arc::new(Core {
            subject,
            ledger,
            speaker,
            raw: watched,
            changes,
            seen: Mutex::default(),
            sights: Arc::default(),
            turn: tokio::sync::Mutex::default(),
            glanced: tokio::sync::Mutex::default(),
        });
        let following = stop.child_token();
        let (follower, ended) = (core.clone(), following.clone());
        tasks.spawn(async move {
            ended.run_until_cancelled(follower.follow(show)).await;
            // One that takes its place under other rules says for itself what is to be told.
            follower.ledger.forget(follower.speaker);
        });
        Self { raw, core, shown, _following: following.drop_guard() }
    }
}

impl Core {
    /// Shows what the upstream offers, as far as nothing is held back, whenever that or the file changes.
    async fn follow(&self, show: watch::Sender<Arc<Snapshot>>) {
        let (mut raw, mut changes) = (self.raw.clone(), self.changes.clone());
        let (mut again, mut is_retry) = (0_u64, false);
        loop {
            let moved = !is_retry
                || raw.has_changed().is_ok_and(|is| is)
                || changes.has_changed().is_ok_and(|is| is);
            let age = *changes.borrow_and_update();
            let mut snapshot = Snapshot::clone(&raw.borrow_and_update());
            if let Some(offering) = &snapshot.offering {
                snapshot.offering = Some(self.compared(offering, None).await.offering.clone());
            }
            // What it offers to some clients may be held back, or not any more.
            snapshot.variants = snapshot.variants.wrapping_add(age).wrapping_add(again);
            let others = self.seen().others.iter().any(|(_, one)| one.until.is_some());
            let is_broken = self.seen().all().any(|one| one.until.is_some());
            let same = !moved
                && !others
                && snapshot.offering.as_ref().map(Arc::as_ptr)
                    == show.borrow().offering.as_ref().map(Arc::as_ptr);
            if !same {
                show.send_replace(Arc::new(snapshot));
            }
            is_retry = false;
            let due = async {
                if is_broken {
                    tokio::time::sleep(AGAIN).await;
                } else {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                () = due => {
                    again = again.wrapping_add(u64::from(others));
                    is_retry = true;
                }
                changed = raw.changed() => if changed.is_err() {
                    return std::future::pending().await;
                },
                changed = changes.changed() => if changed.is_err() {
                    return std::future::pending().await;
                },
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was found of an offering with the file as it is.
    fn known(&self, offering: &Arc<Offering>) -> Option<Arc<Judged>> {
        let age = *self.changes.borrow();
        let seen = self.seen();
        let mut all = seen.all();
        all.find(|one| one.is(offering, age) && one.counts()).map(|one| one.judged.clone())
    }

    /// What is left of an offering, to everybody, or to whom this stands for.
    async fn compared(&self, offering: &Arc<Offering>, to: Option<Arc<str>>) -> Arc<Judged> {
        if let Some(known) = self.known(offering) {
            return known;
        }
        // What everybody is shown is compared by one task alone.
        let _turn = if to.is_some() { Some(self.turn.lock().await) } else { None };
        if let Some(known) = self.known(offering) {
            return known;
        }
        let age = *self.changes.borrow();
        let (of, subject, ledger) = (offering.clone(), self.subject.clone(), self.ledger.clone());
        let (whom, sights) = (to.clone(), self.sights.clone());
        let judging = move || {
            let patience = if whom.is_some() { BRIEF } else { PATIENCE };
            let looked = Looked { to: whom, sights: &sights, patience };
            judge(&of, &looked, &subject, &ledger)
        };
        let judged = tokio::task::spawn_blocking(judging).await.unwrap_or_else(|error| {
            // Nothing is shown of what could not be compared.
            let broken = Some(format!("comparing it broke off: {error}"));
            Judged { offering: Arc::default(), findings: Vec::new(), broken }
        });
        let until = judged.broken.is_some().then(|| Instant::now() + AGAIN);
        let mut seen = self.seen();
        // What is as broken as before is the same: nobody is told again.
        let before = seen.all().find(|one| one.is(offering, age)).map(|one| &one.judged);
        let same = before.filter(|before| {
            judged.broken.is_some()
                && before.broken == judged.broken
                && before.findings == judged.findings
        });
        let judged = same.cloned().unwrap_or_else(|| Arc::new(judged));
        let compared = Compared { of: offering.clone(), age, judged: judged.clone(), until };
        match to {
            None => seen.everybodys = Some(compared),
            Some(to) => {
                seen.others.retain(|(other, one)| *other != to && one.age == age);
                if seen.others.len() >= OTHERS {
                    seen.others.pop_front();
                }
                seen.others.push_back((to, compared));
            }
        }
        self.tell(&mut seen, &judged);
        judged
    }

    /// What of an offering would be left, for a call that does not wait until it is compared.
    async fn glanced(&self, offering: &Arc<Offering>) -> Arc<Judged> {
        let mut glanced = self.glanced.lock().await;
        let age = *self.changes.borrow();
        if let Some(known) = glanced.as_ref().filter(|one| one.is(offering, age) && one.counts()) {
            return known.judged.clone();
        }
        let (of, subject, ledger) = (offering.clone(), self.subject.clone(), self.ledger.clone());
        let judging = move || glance(&of, &subject, &ledger);
        let judged = tokio::task::spawn_blocking(judging).await.unwrap_or_else(|error| {
            let broken = Some(format!("comparing it broke off: {error}"));
            Judged { offering: Arc::default(), findings: Vec::new(), broken }
        });
        let (of, judged) = (offering.clone(), Arc::new(judged));
        let until = Some(Instant::now() + AGAIN);
        *glanced = Some(Compared { of, age, judged: judged.clone(), until });
        judged
    }

    /// Whom this stands for is shown what everybody is shown.
    fn no_other(&self, to: &str) {
        self.sights.lock().unwrap_or_else(PoisonError::into_inner).leaves(to);
        let mut seen = self.seen();
        let before = seen.others.len();
        seen.others.retain(|(other, _)| **other != *to);
        if seen.others.len() != before {
            self.note(&seen);
        }
    }

    /// Says in the log what is new of what was found, and keeps what `/ready` says.
    fn tell(&self, seen: &mut Seen, judged: &Judged) {
        let Subject { connector, upstream, .. } = &self.subject;
        if seen.logged.len() >= LOGGED {
            seen.logged.clear();
        }
        for finding in &judged.findings {
            if seen.logged.insert(finding.clone()) {
                let Finding { what, digest, why, held, .. } = finding;
                let effect = if *held { "held back" } else { "shown as it is" };
                tracing::warn!(
                    %connector, %upstream, %digest, why,
                    "a definition is not as it was approved, and {effect}: {what}"
                );
            }
        }
        self.note(seen);
    }

    fn note(&self, seen: &Seen) {
        let Subject { connector, upstream, .. } = &self.subject;
        let all = seen.all().map(|one| &one.judged);
        let findings: BTreeSet<&Finding> = all.clone().flat_map(|one| &one.findings).collect();
        let things = findings.iter().filter(|one| one.held).map(|one| &one.what);
        let held = things.collect::<BTreeSet<_>>().len();
        let told = findings.iter().map(|one| format!("{} ({})", one.what, one.why)).collect();
        let waiting = findings.iter().filter(|one| one.waits).count();
        let broken = all.clone().find_map(|one| one.broken.clone());
        let note = Note { held, told, waiting, broken };
        self.ledger.note(self.speaker, (connector, upstream), note);
    }

    /// Refuses an order for something that is held back from everybody, as soon as that is known: before catalogues are made
    /// anew, and where they cannot be.
    async fn refusal(&self, order: &Order) -> Option<Fault> {
        let newest = self.raw.borrow().offering.clone()?;
        let judged = match self.known(&newest) {
            Some(known) => known,
            None => self.glanced(&newest).await,
        };
        let held = &judged.offering.held;
        if held.is_empty() {
            return None;
        }
        let why = withheld::why(held, order)?;
        // Whom the server shows another one that counts may call it: the catalogue of that caller knows.
        let seen = self.seen();
        let counts = |one: &Compared| withheld::why(&one.judged.offering.held, order).is_none();
        (!seen.others.iter().map(|(_, one)| one).any(counts)).then(|| held::refusal(&why))
    }
}

impl Upstream for Pinned {
    fn name(&self) -> &Arc<str> {
        self.raw.name()
    }

    fn kind(&self) -> &'static str {
        self.raw.kind()
    }

    fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.shown.clone()
    }

    fn varies(&self) -> bool {
        self.raw.varies()
    }

    fn variant<'a>(&'a self, capabilities: &'a str) -> Promise<'a, Variant> {
        Box::pin(async move {
            let variant = self.raw.variant(capabilities).await;
            self.pinned(variant, capabilities.into()).await
        })
    }

    fn lends(&self) -> bool {
        self.raw.lends()
    }

    fn variant_of<'a>(&'a self, capabilities: &'a str, lender: Lender<'a>) -> Promise<'a, Variant> {
        Box::pin(async move {
            let variant = self.raw.variant_of(capabilities, lender).await;
            // No JSON text has this letter in it.
            let to = format!("{}\0{capabilities}", lender.caller);
            self.pinned(variant, to.into()).await
        })
    }

    fn exchange(&self, order: Order) -> Promise<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            match self.core.refusal(&order).await {
                Some(refusal) => Err(refusal),
                None => self.raw.exchange(order).await,
            }
        })
    }

    fn origins(&self) -> Option<&Arc<[Arc<str>]>> {
        self.raw.origins()
    }

    fn file(&self, order: FileOrder) -> Promise<'_, Result<Option<File>, Fault>> {
        self.raw.file(order)
    }

    fn prepared(&self, party: &Arc<Party>, request: bytes::Bytes) -> Option<Message> {
        self.raw.prepared(party, request)
    }

    fn notify(&self, party: PartyId, notification: Message) -> Promise<'_, ()> {
        self.raw.notify(party, notification)
    }

    fn tell(&self, order: Order) -> Promise<'_, ()> {
        self.raw.tell(order)
    }

    fn set_level(&self, party: PartyId, level: Level) -> Promise<'_, ()> {
        self.raw.set_level(party, level)
    }

    fn leave(&self, party: PartyId) -> Promise<'_, ()> {
        self.raw.leave(party)
    }

    fn control(&self, control: Control) {
        self.raw.control(control);
    }

    fn numbers(&self) -> Numbers {
        self.raw.numbers()
    }

    fn shut_down(&self) -> Promise<'_, ()> {
        self.raw.shut_down()
    }
}

impl Pinned {
    /// What is left of what is offered to whom this stands for.
    async fn pinned(&self, variant: Variant, to: Arc<str>) -> Variant {
        match variant {
            Variant::Own(offering) => {
                Variant::Own(self.core.compared(&offering, Some(to)).await.offering.clone())
            }
            other => {
                self.core.no_other(&to);
                other
            }
        }
    }
}

impl std::fmt::Debug for Pinned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pinned").field("subject", &self.core.subject).finish_non_exhaustive()
    }
}
