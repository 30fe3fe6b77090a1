//! What the phases of a call leave behind.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use crate::fault::Fault;
use crate::pipeline::connector::Connector;
use crate::pipeline::port::{Auditor, CallEnd, CallRecord, Promise, Verdict};
use crate::pipeline::request::{Request, RequestId};
use crate::protocol::{Field, Message};

/// Sentences of policies that one line tells, and the bytes of these.
const NOTES: usize = 8;
const NOTES_BYTES: usize = 1_024;

/// One call on its way.
pub struct Trail {
    connector: Arc<Connector>,
    auditor: Arc<dyn Auditor>,
    /// As it came: later phases change their own.
    request: Request,
    parent: Option<RequestId>,
    at: SystemTime,
    began: Instant,
    found: Mutex<Found>,
    told: AtomicBool,
}

/// What is found out on the way.
#[derive(Debug, Default)]
struct Found {
    upstream: Option<Arc<str>>,
    own_name: Option<Arc<str>>,
    /// The message that went to the server, where its arguments are others.
    sent: Option<Message>,
    retry_of: Option<Arc<str>>,
    verdict: Option<Verdict>,
    decided_by: Option<Box<str>>,
    reason: Option<Box<str>>,
    notes: Vec<Arc<str>>,
}

impl Trail {
    /// The trail of a request that begins.
    pub(super) fn begin(
        connector: &Arc<Connector>,
        auditor: &Arc<dyn Auditor>,
        request: &Request,
        parent: Option<RequestId>,
    ) -> Arc<Self> {
        Arc::new(Self {
            connector: connector.clone(),
            auditor: auditor.clone(),
            request: request.clone(),
            parent,
            at: SystemTime::now(),
            began: Instant::now(),
            found: Mutex::default(),
            told: AtomicBool::new(false),
        })
    }

    /// It goes to this server, under this name, with these arguments.
    pub(in crate::pipeline) fn goes_to(
        &self,
        upstream: &Arc<str>,
        name: &Arc<str>,
        message: &Message,
    ) {
        let edited =
            message.field(Field::Arguments) != self.request.message.field(Field::Arguments);
        let mut found = self.lock();
        found.upstream = Some(upstream.clone());
        found.own_name = Some(name.clone()).filter(|name| !name.is_empty());
        found.sent = edited.then(|| message.clone());
    }

    /// It is sent again: the request id of the first try.
    pub(in crate::pipeline) fn retries(&self, first: &Arc<str>) {
        self.lock().retry_of = Some(first.clone());
    }

    /// A plugin decided about it.
    pub(in crate::pipeline) fn decided(&self, plugin: &str, verdict: Verdict) {
        let mut found = self.lock();
        found.verdict = Some(verdict);
        found.decided_by = Some(plugin.into());
    }

    /// A policy wants this to be told.
    pub(in crate::pipeline) fn note(&self, sentence: &Arc<str>) {
        let mut found = self.lock();
        let bytes: usize = found.notes.iter().map(|note| note.len()).sum();
        // A policy that is asked again says it again.
        if found.notes.contains(sentence) {
            return;
        }
        if found.notes.len() < NOTES && bytes + sentence.len() <= NOTES_BYTES {
            found.notes.push(sentence.clone());
        }
    }

    /// It failed, or was refused.
    pub(super) fn failed(&self, fault: &Fault) {
        let mut found = self.lock();
        if let Some(verdict) = Verdict::of(fault.code()) {
            found.verdict = Some(verdict);
            found.decided_by = fault.decider().map(Into::into).or(found.decided_by.take());
        }
        let cause = fault.cause().map(ToString::to_string);
        found.reason = Some(cause.unwrap_or_else(|| fault.public().to_owned()).into());
    }

    /// Whether its client gave it up by a notification.
    pub(super) fn is_cancelled(&self) -> bool {
        self.request.flight.is_cancelled()
    }

    /// Hands the line over, the first time that this is called; some = what waits for room, and says where a fault stands in the
    /// answer's place.
    pub(super) fn tell(
        &self,
        end: CallEnd,
        bytes: u64,
    ) -> Option<Promise<'static, Result<(), Fault>>> {
        self.once(end, bytes, |auditor, record| auditor.call(record))?
    }

    /// The same where nobody can wait.
    pub(super) fn tell_now(&self, end: CallEnd, bytes: u64) {
        self.once(end, bytes, |auditor, record| auditor.call_now(record));
    }

    fn once<T>(
        &self,
        end: CallEnd,
        bytes_out: u64,
        hand_over: impl FnOnce(&dyn Auditor, &CallRecord<'_>) -> T,
    ) -> Option<T> {
        if self.told.swap(true, Ordering::AcqRel) {
            return None;
        }
        let found = std::mem::take(&mut *self.lock());
        let request = &self.request;
        let notes = if found.notes.is_empty() { String::new() } else { found.notes.join(" ") };
        let record = CallRecord {
            at: self.at,
            took: self.began.elapsed(),
            request_id: request.request_id,
            parent: self.parent,
            retry_of: found.retry_of.as_deref(),
            connector: &self.connector.name,
            caller: &request.caller,
            session: request.session.as_deref(),
            client_info: request.party.client_info.as_deref(),
            message: &request.message,
            headers: &request.headers,
            sent: found.sent.as_ref().map(|sent| sent.field(Field::Arguments).unwrap_or("{}")),
            upstream: found.upstream.as_deref(),
            own_name: found.own_name.as_deref(),
            policies: &self.connector.policies,
            verdict: found.verdict.unwrap_or_default(),
            decided_by: found.decided_by.as_deref(),
            reason: found.reason.as_deref(),
            notes: &notes,
            end,
            bytes_in: request.message.text().len() as u64,
            bytes_out,
        };
        Some(hand_over(&*self.auditor, &record))
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trail")
            .field("request_id", &self.request.request_id)
            .finish_non_exhaustive()
    }
}
