//! Stands before an upstream: what is held back is in nothing that it gives, and no call of it passes.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::judge::{Finding, Judged, Subject, judge};
use super::ledger::{Ledger, Note};
use crate::catalogue::Held;
use crate::fault::Fault;
use crate::pipeline::held;
use crate::pipeline::level::Level;
use crate::pipeline::party::{Party, PartyId};
use crate::pipeline::port::{
    Answer, Control, File, FileOrder, Lender, Numbers, Offering, Order, Phase, Promise, Snapshot,
    Upstream, Variant,
};
use crate::protocol::{Field, Message};

/// What a server offers to some clients or callers is remembered of so many of them; of one more it is compared again.
const OTHERS: usize = 256;
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
    /// Who has it compares; the others wait for what it finds.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Seen {
    everybodys: Option<Compared>,
    /// By whom it is shown to.
    others: VecDeque<(Arc<str>, Compared)>,
    logged: HashSet<Finding>,
}

/// An offering, and what was found when the file was of this age.
#[derive(Clone)]
struct Compared {
    of: Arc<Offering>,
    age: u64,
    judged: Arc<Judged>,
}

impl Seen {
    fn all(&self) -> impl Iterator<Item = &Compared> + Clone {
        self.everybodys.iter().chain(self.others.iter().map(|(_, one)| one))
    }
}

impl Compared {
    fn is(&self, offering: &Arc<Offering>, age: u64) -> bool {
        self.age == age && Arc::ptr_eq(&self.of, offering)
    }
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
        let (seen, turn) = (Mutex::default(), tokio::sync::Mutex::default());
        let (speaker, ledger) = (ledger.speaker(), ledger.clone());
        let core = Arc::new(Core { subject, ledger, speaker, raw: watched, changes, seen, turn });
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
        loop {
            let age = *changes.borrow_and_update();
            let mut snapshot = Snapshot::clone(&raw.borrow_and_update());
            if let Some(offering) = &snapshot.offering {
                snapshot.offering = Some(self.compared(offering, None).await.offering.clone());
            }
            // What it offers to some clients may be held back, or not any more.
            snapshot.variants = snapshot.variants.wrapping_add(age);
            show.send_replace(Arc::new(snapshot));
            tokio::select! {
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
        all.find(|one| one.is(offering, age)).map(|one| one.judged.clone())
    }

    /// What is left of an offering, to everybody, or to whom this stands for.
    async fn compared(&self, offering: &Arc<Offering>, to: Option<Arc<str>>) -> Arc<Judged> {
        if let Some(known) = self.known(offering) {
            return known;
        }
        let _turn = self.turn.lock().await;
        if let Some(known) = self.known(offering) {
            return known;
        }
        let age = *self.changes.borrow();
        let (of, subject, ledger) = (offering.clone(), self.subject.clone(), self.ledger.clone());
        let everybodys = to.is_none();
        let judging = move || judge(&of, everybodys, &subject, &ledger);
        let judged = tokio::task::spawn_blocking(judging).await.unwrap_or_else(|error| {
            // Nothing is shown of what could not be compared.
            let broken = Some(format!("comparing it broke off: {error}"));
            Judged { offering: Arc::default(), findings: Vec::new(), broken }
        });
        let judged = Arc::new(judged);
        let compared = Compared { of: offering.clone(), age, judged: judged.clone() };
        {
            let mut seen = self.seen();
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
        }
        judged
    }

    /// Whom this stands for is shown what everybody is shown.
    fn no_other(&self, to: &str) {
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
                let Finding { what, digest, why, held } = finding;
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
        let broken = all.clone().find_map(|one| one.broken.clone());
        self.ledger.note(self.speaker, (connector, upstream), Note { held, told, broken });
    }

    /// Refuses an order for something that is held back from everybody, as soon as that is known: before catalogues are made
    /// anew, and where they cannot be.
    async fn refusal(&self, order: &Order) -> Option<Fault> {
        let newest = self.raw.borrow().offering.clone()?;
        let judged = match self.known(&newest) {
            Some(known) => known,
            None => self.compared(&newest, None).await,
        };
        let held = &judged.offering.held;
        if held.is_empty() {
            return None;
        }
        let why = why(held, order)?;
        // Whom the server shows another one that counts may call it: the catalogue of that caller knows.
        let seen = self.seen();
        let counts = |one: &Compared| self::why(&one.judged.offering.held, order).is_none();
        (!seen.others.iter().map(|(_, one)| one).any(counts)).then(|| held::refusal(&why))
    }
}

/// Why what an order names is held back.
fn why(held: &Held, order: &Order) -> Option<Arc<str>> {
    let message = &order.message;
    let written = || message.string(Field::Name).or_else(|| message.string(Field::Uri));
    let name = order.name.as_deref().map(std::borrow::Cow::Borrowed).or_else(written)?;
    held::kinds(message.method()).iter().find_map(|kind| held.why(*kind, &name)).cloned()
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
