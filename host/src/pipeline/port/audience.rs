//! Whom a connector can tell something by itself.

use std::sync::Arc;

use tokio::sync::watch;

use crate::fault::{Code, Fault};
use crate::pipeline::caller::Caller;
use crate::pipeline::filters::Filters;
use crate::pipeline::lazy::Loads;
use crate::pipeline::party::{Outbox, PartyId};
use crate::pipeline::viewer::Viewer;

/// A legacy session, or a subscription of the modern era, as far as it is told something.
pub struct Listener {
    /// Its party. Parties are numbered in the order in which they come.
    pub party: PartyId,
    /// Whose it is.
    pub caller: Arc<Caller>,
    /// JSON text of the client's capabilities.
    pub capabilities: Option<Arc<str>>,
    /// What it said last about what is to be shown; none = nothing that a policy may read.
    pub filters: Option<Arc<Filters>>,
    /// Tools that it has loaded of a lazy connector; none where nothing is kept.
    pub loads: Option<Arc<Loads>>,
    /// Takes what the client is told.
    pub outbox: Arc<dyn Outbox>,
}

/// The legacy sessions and the subscriptions of every connector.
pub trait Audience: Send + Sync {
    /// A number that every party from now on has or exceeds, and no party so far.
    fn mark(&self) -> PartyId;
    /// The listeners of the connector of this name, in no order; their number is bounded.
    fn listeners(&self, connector: &str) -> Vec<Listener>;
    /// From now on a subscription of this caller and its client is told, too; fails where there are too many.
    fn join(
        &self,
        connector: &Arc<str>,
        viewer: Viewer<'_>,
        outbox: Arc<dyn Outbox>,
    ) -> Result<Joined, Fault>;
}

/// How a subscription ends that the client did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// There will be nothing to tell any more.
    Graceful,
    /// The client has to ask anew.
    Abrupt,
    /// A server was replaced: who listens at servers has to ask anew. Who wants to hear of the lists alone listens at none, and
    /// goes on.
    Replaced,
}

/// A subscription in the audience, until it is dropped.
pub struct Joined {
    over: watch::Receiver<Option<End>>,
    /// Whether it listens at no server.
    lists_only: bool,
    _entered: Box<dyn Send + Sync>,
}

impl Joined {
    /// `over` says when it ends; `entered` is dropped with it.
    pub fn new(over: watch::Receiver<Option<End>>, entered: impl Send + Sync + 'static) -> Self {
        Self { over, lists_only: false, _entered: Box::new(entered) }
    }

    /// It wants to hear of the lists of the connector, and of nothing that a server tells.
    #[must_use]
    pub fn of_lists_only(self) -> Self {
        Self { lists_only: true, ..self }
    }

    /// Waits until it ends.
    pub async fn over(&mut self) -> End {
        let lists_only = self.lists_only;
        let is_over = |end: &Option<End>| match end {
            Some(End::Replaced) => !lists_only,
            Some(End::Graceful | End::Abrupt) => true,
            None => false,
        };
        match self.over.wait_for(is_over).await {
            Ok(end) => end.unwrap_or(End::Abrupt),
            Err(_nobody_tells) => End::Abrupt,
        }
    }
}

/// The audience of a connector that is not served yet.
#[derive(Debug)]
pub struct Nobody;

impl Audience for Nobody {
    fn mark(&self) -> PartyId {
        PartyId(0)
    }

    fn listeners(&self, _connector: &str) -> Vec<Listener> {
        Vec::new()
    }

    fn join(
        &self,
        _connector: &Arc<str>,
        _viewer: Viewer<'_>,
        _outbox: Arc<dyn Outbox>,
    ) -> Result<Joined, Fault> {
        Err(Fault::new(Code::ShuttingDown, "Nobody is told anything here."))
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("party", &self.party).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Joined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Joined").field("over", &*self.over.borrow()).finish_non_exhaustive()
    }
}
