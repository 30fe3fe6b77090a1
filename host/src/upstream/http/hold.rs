//! What a call holds until its answer ended, and what happens when nobody waits for that end.

use std::sync::Arc;

use super::endpoint::Endpoint;
use super::request::post;
use super::session::Session;
use crate::protocol::Id;
use crate::upstream::authored::cancelled;
use crate::upstream::limits::GOODBYE;
use crate::upstream::tally::Counted;

/// Dropped before [`Hold::done`], it tells a legacy server that a modern client's request is cancelled: that client
/// can do no more than close its connection.
#[derive(Default)]
pub(super) struct Hold {
    /// A session that lives exactly as long as the answer. Its end cancels by itself.
    fresh: Option<Arc<Session>>,
    cancel: Option<(Arc<Endpoint>, Arc<Session>, Id)>,
    /// Counts the request until its answer ended.
    counted: Option<Counted>,
}

impl Hold {
    /// Keeps a session that serves one request only.
    pub(super) fn fresh(session: Arc<Session>) -> Self {
        Self { fresh: Some(session), cancel: None, counted: None }
    }

    /// Cancels the request `id` in this session unless it is done.
    pub(super) fn cancelling(endpoint: Arc<Endpoint>, session: Arc<Session>, id: Id) -> Self {
        Self { fresh: None, cancel: Some((endpoint, session, id)), counted: None }
    }

    /// Counts the request until the answer ended.
    pub(super) fn counted(mut self, counted: Counted) -> Self {
        self.counted = Some(counted);
        self
    }

    /// The answer ended.
    pub(super) fn done(&mut self) {
        self.cancel = None;
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
