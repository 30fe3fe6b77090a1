//! Takes what happened, and makes lines of it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use super::call::Telling;
use super::chain::{Chain, Hasher, derived};
use super::file::{AuditFile, AuditFileError};
use super::flood::{Flood, Turn};
use super::line::Line;
use super::queue::{Queue, now};
use super::writer::{Outputs, TOLD, Writer};
use crate::config::AuditSettings;
use crate::fault::{Code, Fault};
use crate::pipeline::port::{Auditor, CallRecord, Promise};
use crate::telemetry::audit::{Said, Sink};

/// Kinds of which anybody can make many: few of them are told one by one. Of acts these are the ones that were refused: those
/// of nobody, and those of whoever is known, so that the first do not hide the second.
const BOUNDED: [&str; 4] = ["authentication", "refusal", "act", "act"];
/// How long the end waits for the last write.
const LAST: Duration = Duration::from_secs(8);

thread_local! {
    /// The line that this thread writes.
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The audit of this process.
#[derive(Debug)]
pub struct Ledger {
    queue: Arc<Queue>,
    telling: Telling,
    required: bool,
    /// One for each of [`BOUNDED`].
    floods: [Mutex<Flood>; 4],
    writing: Mutex<Option<JoinHandle<()>>>,
    /// When the log was last told that a write does not come back.
    told: Mutex<Option<Instant>>,
}

/// What became of lines so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that were taken.
    pub taken: u64,
    /// Lines that found no room, or were never written.
    pub lost: u64,
    /// Lines that the copy on standard output lacks.
    pub copies_lost: u64,
    /// Whether nothing, or no copy, can be written now, or lines are lost.
    pub failing: bool,
}

impl Ledger {
    /// Opens the file and starts the thread that writes. The first line says how arguments are digested and lines tied
    /// together; `config` is the digest of the configuration.
    pub fn open(settings: &AuditSettings, config: &str) -> Result<Arc<Self>, AuditFileError> {
        let system = |error: &dyn std::fmt::Display| AuditFileError::System(error.to_string());
        let given = settings.digest_key.as_ref().map(|key| key.reveal().as_bytes());
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| system(&error))?;
        let digest = derived(given.unwrap_or(&random), b"plugway audit arguments");
        let digest = digest.ok_or_else(|| system(&"the digest key cannot be used"))?;
        let file = match &settings.file {
            Some(path) => Some(AuditFile::open(path, settings.rotation)?),
            None => None,
        };
        let hasher = Hasher::new(given);
        let tied = match (settings.chain, hasher.is_keyed()) {
            (false, _) => "",
            (true, true) => "hmac-sha256",
            (true, false) => "sha256",
        };
        let queue = Arc::new(Queue::default());
        let outputs = Outputs { file, stdout: settings.stdout };
        let chain = settings.chain.then(|| Chain::new(hasher));
        let writer = Writer::new(queue.clone(), outputs, chain).map_err(|source| {
            AuditFileError::Open { path: settings.file.clone().unwrap_or_default(), source }
        })?;
        let thread = std::thread::Builder::new().name("audit".to_owned());
        let writing = thread.spawn(move || writer.run()).map_err(|error| system(&error))?;
        let ledger = Self {
            queue,
            telling: Telling {
                digest,
                arguments: settings.arguments,
                ends: AtomicBool::new(false),
            },
            required: settings.required,
            floods: BOUNDED.map(|_| Mutex::new(Flood::new(now()))),
            writing: Mutex::new(Some(writing)),
            told: Mutex::default(),
        };
        let key = if given.is_some() { "configured" } else { "random, of this process alone" };
        ledger.event(
            "start",
            &[
                ("version", Said::Text(env!("CARGO_PKG_VERSION"))),
                ("config", Said::Text(config)),
                ("digest_key", Said::Text(key)),
                ("chain", Said::Text(tied)),
            ],
        );
        Ok(Arc::new(ledger))
    }

    /// plugway cuts off from now on what has not ended: no client gives it up.
    pub fn ends(&self) {
        self.telling.ends.store(true, Ordering::Release);
    }

    /// Goes on in the file that has the configured name now.
    pub fn reopen(&self) {
        self.queue.reopen();
    }

    /// Writes everything that waits, and a last line which says that nothing is missing. Blocks until that is on the disk; where
    /// a write does not come back, within a bound, and the log says how many lines are lost.
    pub fn close(&self) {
        self.tell_all(Flood::rest);
        self.event("stop", &[]);
        self.queue.close();
        let Some(writing) = self.writing.lock().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return;
        };
        if let Err(lines) = self.queue.until_over(LAST) {
            self.queue.lose_many(lines);
            tracing::error!(
                lines,
                "the audit ends in the middle of a write that does not come back: lines may be lost"
            );
        } else if writing.join().is_err() {
            tracing::error!("the audit broke off");
        }
    }

    /// What became of lines so far.
    pub fn counts(&self) -> Counts {
        Counts {
            taken: self.queue.taken.load(Ordering::Relaxed),
            lost: self.queue.lost.load(Ordering::Relaxed),
            copies_lost: self.queue.copies_lost.load(Ordering::Relaxed),
            failing: self.queue.is_failing() || self.queue.copy_trouble().is_some(),
        }
    }

    /// What cannot be written now, and why, for the operator.
    pub fn trouble(&self) -> Option<String> {
        self.queue.why().or_else(|| self.queue.copy_trouble())
    }

    /// Whether a line that `write` makes was taken; else the line.
    fn offer(&self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Vec<u8>> {
        LINE.with_borrow_mut(|line| {
            line.clear();
            write(line);
            if self.queue.offer(line) { Ok(()) } else { Err(line.clone()) }
        })
    }

    fn tell_counted(&self, kind: &'static str, counted: u64) {
        if counted > 0 {
            let members = [("count", Said::Number(counted)), ("result", Said::Text("refused"))];
            self.tell(kind, &members);
        }
    }

    /// Tells what was only counted, of each kind.
    fn tell_all(&self, counted: impl Fn(&mut Flood) -> u64) {
        for (kind, flood) in BOUNDED.into_iter().zip(&self.floods) {
            let counted = counted(&mut flood.lock().unwrap_or_else(PoisonError::into_inner));
            self.tell_counted(kind, counted);
        }
    }

    fn tell(&self, kind: &'static str, members: &[(&'static str, Said<'_>)]) {
        let told = self.offer(|buffer| {
            let mut line = Line::begin(buffer);
            line.moment("time", SystemTime::now());
            line.text("kind", kind);
            for (name, said) in members {
                line.said(name, *said);
            }
            line.end();
        });
        if told.is_err() {
            self.queue.lose();
        }
    }

    /// Tells of refusals that were only counted, once their time is over, and of a write that does not come back.
    pub fn settle(&self) {
        self.tell_all(|flood| flood.due(now()));
        if !self.queue.hangs() || self.queue.is_told() {
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| told.elapsed() >= TOLD) {
            *told = Some(now());
            tracing::error!(
                "the audit cannot be written: a write does not come back; its lines wait"
            );
        }
    }

    /// What counts a line, where there may be too many of its kind.
    fn flood(&self, kind: &str, members: &[(&'static str, Said<'_>)]) -> Option<&Mutex<Flood>> {
        let text = |wanted: &str| {
            members.iter().find_map(|(name, said)| match said {
                Said::Text(text) if *name == wanted => Some(*text),
                _ => None,
            })
        };
        let place = match kind {
            "authentication" => 0,
            "refusal" => 1,
            "act" if text("result") == Some("refused") => {
                if text("who").unwrap_or_default().is_empty() { 2 } else { 3 }
            }
            _ => return None,
        };
        self.floods.get(place)
    }
}

impl Sink for Ledger {
    fn event(&self, kind: &'static str, members: &[(&'static str, Said<'_>)]) {
        if let Some(flood) = self.flood(kind, members) {
            let turn = flood.lock().unwrap_or_else(PoisonError::into_inner).turn(now());
            match turn {
                Turn::Counted => return,
                Turn::Told(counted) => self.tell_counted(kind, counted),
            }
        }
        self.tell(kind, members);
    }
}

/// Why nobody gets an answer that the operator wants no one to get without a line.
fn unavailable(why: Option<String>) -> Fault {
    let text = "No call is served while the audit of this server cannot be written.";
    let fault = Fault::new(Code::AuditUnavailable, text).retry_after(Duration::from_secs(5));
    fault.because(why.unwrap_or_else(|| "the line of the call was lost".to_owned()))
}

impl Auditor for Ledger {
    fn refuses(&self) -> Option<Fault> {
        let refuses = self.required && self.queue.is_failing();
        refuses.then(|| unavailable(self.queue.why()))
    }

    fn call(&self, record: &CallRecord<'_>) -> Option<Promise<'static, Result<(), Fault>>> {
        let line = self.offer(|buffer| self.telling.write(record, buffer)).err()?;
        let (queue, required) = (self.queue.clone(), self.required);
        Some(Box::pin(async move {
            let kept = queue.wait(&line).await;
            if kept || !required { Ok(()) } else { Err(unavailable(queue.why())) }
        }))
    }

    fn call_now(&self, record: &CallRecord<'_>) {
        if self.offer(|buffer| self.telling.write(record, buffer)).is_err() {
            self.queue.lose();
        }
    }
}
