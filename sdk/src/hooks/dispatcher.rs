//! Dispatchers: they pick a worker inside an upstream.

use crate::{Candidate, Failure, Plugin};

/// What `pick` says: forward to one worker, gather from several, or refuse.
pub use crate::glue::dispatcher::Plan as Pick;
/// Parts of a [`Pick`].
pub use crate::glue::dispatcher::{Choice, Hedge};
/// What `settle` says.
pub use crate::glue::settling::Verdict;

/// `dispatcher`: the main hook.
pub trait Dispatcher: Plugin {
    /// The worker for the call in hand. `affinity` is a stable hash of session or caller; `assigned` is the worker it
    /// already uses. Within 10 ms, and every microsecond counts.
    fn pick(
        &self,
        affinity: Option<u32>,
        assigned: Option<u32>,
        candidates: Vec<Candidate>,
    ) -> Result<Pick, Failure>;
}

/// `settling`: a failed attempt of which nothing has been sent to the client yet.
pub trait Settling: Plugin {
    /// Once more elsewhere, give up, or relay what came. [`outcome`](crate::host::outcome) 0 is the attempt.
    fn settle(&self, candidates: Vec<Candidate>) -> Result<Verdict, Failure>;
}

/// `learning`: after the end of a call, for what the server invented in its answer. For routers as well.
pub trait Learning: Plugin {
    /// Globs over the upstream's own tool names. At most 64.
    fn interests(&self) -> Vec<String> {
        vec!["*".to_owned()]
    }

    /// Sees an answer of at most 1 MiB as [`outcome`](crate::host::outcome) 0, before any policy reviewed it, and changes
    /// nothing. The client gets the answer when this has ended. Within 50 ms.
    fn learn(&self) -> Result<(), Failure>;
}

/// `merging`: one result out of gathered ones.
pub trait Merging: Plugin {
    /// JSON of the result. [`outcome`](crate::host::outcome) has one index for each worker asked. Within 50 ms.
    fn merge(&self) -> Result<String, Failure>;
}

impl Pick {
    /// To this worker, without keeping it for the session.
    pub fn once(worker: u32) -> Self {
        Self::Forward(Choice { worker, stick: false, hedge: None })
    }

    /// To this worker, and all further calls of the session too.
    pub fn stick(worker: u32) -> Self {
        Self::Forward(Choice { worker, stick: true, hedge: None })
    }
}
