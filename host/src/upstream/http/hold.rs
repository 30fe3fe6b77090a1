//! What a call holds until its answer ended, and what happens when nobody waits for that end.

use std::sync::Arc;

use super::endpoint::Endpoint;
use super::request::post;
use super::session::Session;
use crate::protocol::Id;
use crate::upstream::authored::cancelled;
use crate::upstream::failure::Failure;
use crate::upstream::limits::GOODBYE;
use crate::upstream::tally::Counted;

/// Dropped before [`Hold::done`], it tells a legacy server that a modern client's request is cancelled: that client
/// can do no more than close its connection. A legacy client that is gone has cancelled nothing; but no answer is waited for
/// that is late, whoever asked.
#[derive(Default)]
pub(super) struct Hold {
    /// A session that lives exactly as long as the answer. Its end cancels by itself.
    fresh: Option<Arc<Session>>,
    cancel: Option<Cancel>,
    /// The same, once the answer is late.
    late: Option<Cancel>,
    /// Counts the request until its answer ended.
    counted: Option<Counted>,
}

/// What the server is told of, and how.
type Cancel = (Arc<Endpoint>, Arc<Session>, Id);

impl Hold {
    /// Keeps a session that serves one request only.
    pub(super) fn fresh(session: Arc<Session>) -> Self {
        let mut hold = Self::default();
        hold.fresh = Some(session);
        hold
    }

    /// Cancels the request `id` in this session unless it is done.
    pub(super) fn cancelling(endpoint: Arc<Endpoint>, session: Arc<Session>, id: Id) -> Self {
        let mut hold = Self::default();
        hold.cancel = Some((endpoint, session, id));
        hold
    }

    /// Cancels the request `id` in this session if its answer is late.
    pub(super) fn patient(endpoint: Arc<Endpoint>, session: Arc<Session>, id: Id) -> Self {
        let mut hold = Self::default();
        hold.late = Some((endpoint, session, id));
        hold
    }

    /// Notes whether the answer is late.
    pub(super) fn noted<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if result.as_ref().is_err_and(Failure::is_timeout) {
            self.cancel = self.cancel.take().or_else(|| self.late.take());
        }
        result
    }

    /// Counts the request until the answer ended.
    pub(super) fn counted(mut self, counted: Counted) -> Self {
        self.counted = Some(counted);
        self
    }

    /// The answer ended.
    pub(super) fn done(&mut self) {
        self.cancel = None;
        self.late = None;
        self.fresh = None;
        self.counted = None;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some((endpoint, session, id)) = self.cancel.take() {
            let sent = endpoint.send(post(&endpoint, session.head(), cancelled(id.as_json())));
            endpoint.drainer.run(async move { drop(sent.await) }, GOODBYE);
        }
    }
}
