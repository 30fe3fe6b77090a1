//! Takes what happened, and makes lines of it.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use super::call::Telling;
use super::chain::{Chain, Hasher, derived};
use super::file::{AuditFile, AuditFileError};
use super::flood::{Flood, Turn};
use super::line::Line;
use super::queue::{Queue, now};
use super::writer::{Outputs, Writer};
use crate::config::AuditSettings;
use crate::fault::{Code, Fault};
use crate::pipeline::port::{Auditor, CallRecord, Promise};
use crate::telemetry::audit::{Said, Sink};

/// Kinds of which anybody can make many: few of them are told one by one.
const BOUNDED: [&str; 2] = ["authentication", "refusal"];

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
    floods: [Mutex<Flood>; 2],
    writing: Mutex<Option<JoinHandle<()>>>,
}

/// What became of lines so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that were taken.
    pub taken: u64,
    /// Lines that found no room, or were never written.
    pub lost: u64,
    /// Whether nothing can be written now.
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
            telling: Telling { digest, arguments: settings.arguments },
            required: settings.required,
            floods: BOUNDED.map(|_| Mutex::new(Flood::new(now()))),
            writing: Mutex::new(Some(writing)),
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

    /// Goes on in the file that has the configured name now.
    pub fn reopen(&self) {
        self.queue.reopen();
    }

    /// Writes everything that waits, and a last line which says that nothing is missing. Blocks until that is on the disk.
    pub fn close(&self) {
        self.tell_all(Flood::rest);
        self.event("stop", &[]);
        self.queue.close();
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner).take();
        if writing.is_some_and(|writing| writing.join().is_err()) {
            tracing::error!("the audit broke off");
        }
    }

    /// What became of lines so far.
    pub fn counts(&self) -> Counts {
        Counts {
            taken: self.queue.taken.load(Ordering::Relaxed),
            lost: self.queue.lost.load(Ordering::Relaxed),
            failing: self.queue.is_failing(),
        }
    }

    /// Why nothing can be written now, in a sentence for the operator.
    pub fn trouble(&self) -> Option<String> {
        self.queue.trouble()
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

    /// Tells of refusals that were only counted, once their time is over.
    pub fn settle(&self) {
        self.tell_all(|flood| flood.due(now()));
    }
}

impl Sink for Ledger {
    fn event(&self, kind: &'static str, members: &[(&'static str, Said<'_>)]) {
        let mut floods = BOUNDED.iter().zip(&self.floods);
        if let Some((_, flood)) = floods.find(|(bounded, _)| **bounded == kind) {
            let turn = flood.lock().unwrap_or_else(PoisonError::into_inner).turn(now());
            match turn {
                Turn::Counted => return,
                Turn::Told(counted) => self.tell_counted(kind, counted),
            }
        }
        self.tell(kind, members);
    }
}

impl Auditor for Ledger {
    fn refuses(&self) -> Option<Fault> {
        if !self.required || !self.queue.is_failing() {
            return None;
        }
        let text = "No call is served while the audit of this server cannot be written.";
        let fault = Fault::new(Code::AuditUnavailable, text).retry_after(Duration::from_secs(5));
        Some(fault.because(self.queue.trouble().unwrap_or_default()))
    }

    fn call(&self, record: &CallRecord<'_>) -> Option<Promise<'static, ()>> {
        let line = self.offer(|buffer| self.telling.write(record, buffer)).err()?;
        let queue = self.queue.clone();
        Some(Box::pin(async move { queue.wait(&line).await }))
    }

    fn call_now(&self, record: &CallRecord<'_>) {
        if self.offer(|buffer| self.telling.write(record, buffer)).is_err() {
            self.queue.lose();
        }
    }
}
