//! Compares what a server offers with what was approved.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::definition::{Definition, Read};
use super::ledger::Ledger;
use super::lock::{FIRST_SIGHT, Key, Kind, Lock, OF_ONE, Record, Version, Waiting, Why};
use super::sights::Sights;
use super::withheld::{BROKEN, FULL, UNREADABLE, sentence, without};
use crate::catalogue::{EntryKind, Held};
use crate::pipeline::moment;
use crate::pipeline::port::Offering;

/// What becomes of what is not as it was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is told.
    Warn,
    /// What changed is held back.
    Hold,
    /// What changed and what is new is held back.
    Locked,
}

/// Whose offerings are compared, and how strictly.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The connector.
    pub connector: Arc<str>,
    /// The upstream.
    pub upstream: Arc<str>,
    /// How strictly.
    pub mode: Mode,
}

/// What is left of an offering.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) offering: Arc<Offering>,
    /// What is not as it was approved.
    pub(super) findings: Vec<Finding>,
    /// That nothing could be compared, or written down, and why.
    pub(super) broken: Option<String>,
}

/// Something that is not as it was approved.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Finding {
    /// Kind and name, with escapes for what cannot be seen.
    pub(super) what: String,
    /// Digest of the definition; empty where there is none.
    pub(super) digest: Arc<str>,
    pub(super) why: String,
    pub(super) held: bool,
    /// Whether it waits for approval.
    pub(super) waits: bool,
}

/// A definition and what the file says about it.
struct Verdict {
    definition: Definition,
    /// None where it counts.
    against: Option<Against>,
}

/// Why a definition does not count.
enum Against {
    Why(Why),
    /// It cannot be compared, for this reason.
    Unreadable(String),
    /// There is no room to write it down.
    Full,
}

/// How an offering is looked at.
pub(super) struct Looked<'a> {
    /// Whom it is shown to; everybody where there is none.
    pub(super) to: Option<Arc<str>>,
    /// What this process saw waiting of the upstream.
    pub(super) sights: &'a Mutex<Sights>,
    /// How long others that write the file are waited for.
    pub(super) patience: Duration,
}

/// Compares; writes down what was seen. Blocks. Where that cannot be written down, what the file is known to say counts.
pub(super) fn judge(
    offering: &Arc<Offering>,
    looked: &Looked<'_>,
    subject: &Subject,
    ledger: &Ledger,
) -> Judged {
    let definitions = definitions(offering);
    let lock = match ledger.known() {
        Ok(lock) => lock,
        Err(error) => return unknown(offering, &definitions, subject, &error.to_string()),
    };
    let verdicts = verdicts(&definitions, subject, &lock);
    let records = records(&verdicts, looked, subject, &lock);
    // What was seen counts once it is written down, and not before.
    let written =
        if records.is_empty() { Ok(lock.clone()) } else { ledger.record(records, looked.patience) };
    match written {
        Ok(lock) => {
            sights(looked).settled(looked.to.is_none());
            let verdicts = self::verdicts(&definitions, subject, &lock);
            shown(offering, &verdicts, subject, &lock)
        }
        Err(error) => {
            let broken = Some(format!("what was seen of it cannot be written down: {error}"));
            Judged { broken, ..shown(offering, &verdicts, subject, &lock) }
        }
    }
}

/// Compares with what the file is known to say, and writes nothing. Blocks only where the file was never read.
pub(super) fn glance(offering: &Arc<Offering>, subject: &Subject, ledger: &Ledger) -> Judged {
    let definitions = definitions(offering);
    match ledger.known() {
        Ok(lock) => shown(offering, &verdicts(&definitions, subject, &lock), subject, &lock),
        Err(error) => unknown(offering, &definitions, subject, &error.to_string()),
    }
}

fn sights<'a>(looked: &Looked<'a>) -> MutexGuard<'a, Sights> {
    looked.sights.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lists(offering: &Offering) -> [(EntryKind, &Vec<Arc<str>>); 4] {
    [
        (EntryKind::Tool, &offering.tools),
        (EntryKind::Prompt, &offering.prompts),
        (EntryKind::Resource, &offering.resources),
        (EntryKind::Template, &offering.templates),
    ]
}

/// Of several with one name the first counts, as it does in catalogues.
fn definitions(offering: &Offering) -> Vec<Definition> {
    let entries = lists(offering).into_iter().flat_map(|(kind, all)| {
        all.iter().filter_map(move |json| Definition::of_entry(kind, json))
    });
    let instructions = offering.instructions.as_deref().map(Definition::of_instructions);
    let mut seen = HashSet::new();
    let all = entries.chain(instructions);
    all.filter(|one| seen.insert((one.kind, one.name.clone()))).collect()
}

impl Subject {
    pub(super) fn key(&self, definition: &Definition) -> Key {
        let (connector, upstream) = (self.connector.clone(), self.upstream.clone());
        Key { connector, upstream, kind: definition.kind, name: definition.name.clone() }
    }
}

fn verdicts(definitions: &[Definition], subject: &Subject, lock: &Lock) -> Vec<Verdict> {
    let has_room = definitions.first().is_none_or(|one| lock.has_room(&subject.key(one)));
    let is_full = |key: &Key| !has_room && !lock.knows(key);
    let one = |definition: &Definition| {
        let against = match &definition.read {
            Err(why) => Some(Against::Unreadable(why.clone())),
            Ok(read) => against(&subject.key(definition), read, lock).map(|why| match why {
                Why::New | Why::Unseen(_) if is_full(&subject.key(definition)) => Against::Full,
                why => Against::Why(why),
            }),
        };
        Verdict { definition: definition.clone(), against }
    };
    definitions.iter().map(one).collect()
}

/// Why a definition does not count. What is new is taken as it is unless it is `locked`, once that is written down.
fn against(key: &Key, read: &Read, lock: &Lock) -> Option<Why> {
    if lock.is_approved(key, &read.digest) {
        return None;
    }
    if lock.newest(key).is_some() {
        return Some(Why::Changed);
    }
    if !read.unseen.is_empty() {
        return Some(Why::Unseen(read.unseen.names()));
    }
    Some(Why::New)
}

fn now() -> Arc<str> {
    moment::rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()).into()
}

/// What is to be written down.
fn records(
    verdicts: &[Verdict],
    looked: &Looked<'_>,
    subject: &Subject,
    lock: &Lock,
) -> Vec<Record> {
    let (now, everybodys) = (now(), looked.to.is_none());
    let mut records = Vec::new();
    let mut still = BTreeSet::new();
    for Verdict { definition, against } in verdicts {
        let (Ok(read), Some(Against::Why(why))) = (&definition.read, against) else { continue };
        let key = subject.key(definition);
        let (digest, text) = (read.digest.clone(), read.text.clone());
        if *why == Why::New && subject.mode != Mode::Locked {
            let (first_seen, approved_at) = (now.clone(), now.clone());
            let (approved_by, unheard) = (FIRST_SIGHT.into(), false);
            let version = Version { digest, text, first_seen, approved_by, approved_at, unheard };
            records.push(Record::Pin(key, version));
            continue;
        }
        still.insert((key.clone(), digest.clone()));
        if lock.waits(&key, &digest).is_some_and(|known| known.everybodys || !everybodys) {
            continue;
        }
        let (why, unseen) = (why.clone(), read.unseen.names());
        let first_seen = now.clone();
        records
            .push(Record::Wait(key, Waiting { digest, text, first_seen, why, unseen, everybodys }));
    }
    let mut sights = sights(looked);
    sights.sees(looked.to.as_ref(), still);
    // What makes room is first.
    let gone = sights.gone(lock, (&subject.connector, &subject.upstream), everybodys);
    if !gone.is_empty() {
        records.insert(0, Record::Settle(gone));
    }
    records
}

/// The offering without what is held back.
fn shown(offering: &Arc<Offering>, verdicts: &[Verdict], subject: &Subject, lock: &Lock) -> Judged {
    let holds = subject.mode != Mode::Warn;
    let (mut findings, mut held, mut silent) = (Vec::new(), Held::default(), false);
    for Verdict { definition, against } in verdicts {
        let Some(against) = against else { continue };
        let key = subject.key(definition);
        let (why, sentence) = match against {
            Against::Why(why) => (why.to_string(), sentence(why, &key, lock)),
            Against::Unreadable(why) => (why.clone(), UNREADABLE.to_owned()),
            Against::Full => (
                format!("more than {OF_ONE} things of its server, or more than fit into the file"),
                FULL.to_owned(),
            ),
        };
        let waits = matches!(against, Against::Why(_));
        findings.push(Finding { waits, ..Finding::of(definition, why, holds) });
        match definition.kind {
            Kind::Entry(kind) => held.insert(kind, definition.name.clone(), sentence.into()),
            Kind::Instructions => silent = true,
        }
    }
    let same = findings.is_empty() || !holds;
    let offering =
        if same { offering.clone() } else { without(offering, held, silent, subject, Some(lock)) };
    Judged { offering, findings, broken: None }
}

/// Where nothing can be compared nothing is known to be as it was approved.
fn unknown(
    offering: &Arc<Offering>,
    definitions: &[Definition],
    subject: &Subject,
    why: &str,
) -> Judged {
    let broken = format!("what it lists cannot be compared with what was approved: {why}");
    if subject.mode == Mode::Warn {
        return Judged { offering: offering.clone(), findings: Vec::new(), broken: Some(broken) };
    }
    let mut held = Held::default();
    let mut findings = Vec::new();
    for definition in definitions {
        findings.push(Finding::of(definition, "cannot be compared".to_owned(), true));
        if let Kind::Entry(kind) = definition.kind {
            held.insert(kind, definition.name.clone(), BROKEN.into());
        }
    }
    Judged {
        offering: without(offering, held, true, subject, None),
        findings,
        broken: Some(broken),
    }
}

impl Finding {
    fn of(definition: &Definition, why: String, held: bool) -> Self {
        let name = super::visible(&definition.name);
        let what = match definition.kind {
            Kind::Instructions => "instructions".to_owned(),
            Kind::Entry(kind) => format!("{} {name}", kind.as_str()),
        };
        let digest = definition.read.as_ref().map(|read| read.digest.clone()).unwrap_or_default();
        Self { what, digest, why, held, waits: false }
    }
}
