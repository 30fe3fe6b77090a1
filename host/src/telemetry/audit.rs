//! The audit: one JSON line for each act of an operator, and for each that was refused, for each file of a server that
//! somebody fetched, and for what happens beside calls: sessions, reloads, refused credentials. Where the operator
//! configured an audit, it takes them ([`to`]); else acts stand in the log, which writes the target `audit` as JSON in every
//! format and keeps it at every level, and the rest is not written. No secret stands in a line: who is a name, never a
//! credential.

use std::sync::{Arc, OnceLock};

/// The target of these lines in the log.
pub const TARGET: &str = "audit";

/// What takes the lines where the operator configured an audit: one for the process, as the log is.
static SINK: OnceLock<Arc<dyn Sink>> = OnceLock::new();

/// Takes lines.
pub trait Sink: Send + Sync {
    /// Takes one without waiting: its kind and its members, whose names are those of the line.
    fn event(&self, kind: &'static str, members: &[(&'static str, Said<'_>)]);
}

/// A value in a line.
#[derive(Clone, Copy, Debug)]
pub enum Said<'a> {
    /// Text; left out where it is empty.
    Text(&'a str),
    /// A whole number.
    Number(u64),
    /// Texts.
    List(&'a [String]),
}

/// Sends all lines there from now on; false where others were named before.
pub fn to(sink: Arc<dyn Sink>) -> bool {
    SINK.set(sink).is_ok()
}

/// Something happened that is told where there is an audit, and nowhere else.
pub fn event(kind: &'static str, members: &[(&'static str, Said<'_>)]) {
    if let Some(sink) = SINK.get() {
        sink.event(kind, members);
    }
}

/// Whether anybody takes [`event`]s: what is costly to tell need not be put together else.
pub fn is_taken() -> bool {
    SINK.get().is_some()
}

/// What was done, or was to be done.
#[derive(Clone, Copy, Debug)]
pub struct Act<'a> {
    /// Finds the request in the log and in the answer.
    pub request_id: &'a str,
    /// The caller for people; empty where nobody was identified.
    pub who: &'a str,
    /// Where it came from: an address, or `unix socket`; empty where that is not told.
    pub from: &'a str,
    /// What was to be done: a word such as `reload`.
    pub action: &'a str,
    /// To what; empty where the action has no object. Of a file it is `CONNECTOR/UPSTREAM/NAME`: neither the link nor where it
    /// leads, which are as good as credentials.
    pub target: &'a str,
}

impl Act<'_> {
    /// It was done, or begins to be.
    pub fn done(&self) {
        self.line("done", "");
    }

    /// It was let through and failed, for this reason.
    pub fn failed(&self, reason: &str) {
        self.line("failed", reason);
    }

    /// It was not let through, for this reason.
    pub fn refused(&self, reason: &str) {
        self.line("refused", reason);
    }

    /// It went on; a policy that only watches says this about it.
    pub fn noted(&self, reason: &str) {
        self.line("noted", reason);
    }

    fn line(&self, result: &str, reason: &str) {
        let Self { request_id, who, from, action, target } = *self;
        let Some(sink) = SINK.get() else {
            tracing::info!(
                target: TARGET, request_id, who, from, action, object = target, result, reason,
                "administration"
            );
            return;
        };
        let members = [
            ("request_id", request_id),
            ("who", who),
            ("from", from),
            ("action", action),
            ("object", target),
            ("result", result),
            ("reason", reason),
        ];
        sink.event("act", &members.map(|(name, text)| (name, Said::Text(text))));
    }
}

/// A call that a person has to confirm.
#[derive(Clone, Copy, Debug)]
pub struct Confirmation<'a> {
    /// Finds the request in the log and in the answer.
    pub request_id: &'a str,
    /// The caller for people.
    pub who: &'a str,
    /// `CONNECTOR/UPSTREAM/NAME`; the upstream is empty where it is not known.
    pub object: &'a str,
    /// Beginning of the SHA-256 of the arguments or the URI where the question shows it, for the log: an audit has a keyed
    /// digest in the line of the call, by which nobody guesses arguments.
    pub digest: &'a str,
}

impl Confirmation<'_> {
    /// What became of it: `asked`, `confirmed`, or `refused` for this reason.
    pub fn line(&self, result: &str, reason: &str) {
        let Self { request_id, who, object, digest } = *self;
        let Some(sink) = SINK.get() else {
            let action = "confirm";
            tracing::info!(
                target: TARGET, request_id, who, action, object, result, reason, digest,
                "confirmation"
            );
            return;
        };
        let members = [
            ("request_id", request_id),
            ("who", who),
            ("object", object),
            ("result", result),
            ("reason", reason),
        ];
        sink.event("confirmation", &members.map(|(name, text)| (name, Said::Text(text))));
    }
}
