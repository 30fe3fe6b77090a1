//! The audit: one JSON line for each act of an operator, and for each that was refused, and for each file of a server that
//! somebody fetched. The log writes the target `audit`
//! as JSON in every format, and no level keeps it out. No secret stands in a line: who is a name, never a credential.

/// The target of these lines.
pub const TARGET: &str = "audit";

/// What was done, or was to be done.
#[derive(Clone, Copy, Debug)]
pub struct Act<'a> {
    /// Finds the request in the log and in the answer.
    pub request_id: &'a str,
    /// The caller for people; empty where nobody was identified.
    pub who: &'a str,
    /// Where it came from: an address, or `unix socket`.
    pub from: &'a str,
    /// What was to be done: a word such as `reload`.
    pub action: &'a str,
    /// To what; empty where the action has no object.
    pub target: &'a str,
}

impl Act<'_> {
    /// It was done.
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
        tracing::info!(
            target: TARGET, request_id, who, from, action, object = target, result, reason,
            "administration"
        );
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
    /// Beginning of the SHA-256 of the arguments, as the question shows it.
    pub digest: &'a str,
}

impl Confirmation<'_> {
    /// What became of it: `asked`, `confirmed`, or `refused` for this reason.
    pub fn line(&self, result: &str, reason: &str) {
        let Self { request_id, who, object, digest } = *self;
        let (from, action) = ("", "confirm");
        tracing::info!(
            target: TARGET, request_id, who, from, action, object, result, reason, digest, "confirmation"
        );
    }
}

/// A file of a server that a caller fetches by a link.
#[derive(Clone, Copy, Debug)]
pub struct Download<'a> {
    /// Finds the request in the log and in the answer.
    pub request_id: &'a str,
    /// The caller for people.
    pub who: &'a str,
    /// `CONNECTOR/UPSTREAM/NAME OF THE FILE`: neither the link nor where it leads, which are as good as credentials.
    pub object: &'a str,
}

impl Download<'_> {
    /// Its content begins to flow.
    pub fn done(&self) {
        self.line("done", "");
    }

    /// It could not be fetched, for this reason.
    pub fn failed(&self, reason: &str) {
        self.line("failed", reason);
    }

    /// It is not this caller's, for this reason.
    pub fn refused(&self, reason: &str) {
        self.line("refused", reason);
    }

    fn line(&self, result: &str, reason: &str) {
        let Self { request_id, who, object } = *self;
        let (from, action) = ("", "artifact-fetch");
        tracing::info!(
            target: TARGET, request_id, who, from, action, object, result, reason, "artifact"
        );
    }
}
