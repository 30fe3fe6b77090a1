//! Which eras a server speaks, as far as that was found out, and what it means for a party's request.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::failure::Failure;
use super::limits::PROBE;
use super::status::Status;
use crate::pipeline::party::Party;
use crate::protocol::Era;

/// What was found out about a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Speaks {
    /// Whether it answers requests of the modern era.
    pub(super) modern: Option<bool>,
    /// Whether it answers `initialize`.
    pub(super) initialize: Option<bool>,
}

/// How a party's request reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// In the party's own session.
    Session,
    /// In a session that serves this one request.
    Fresh,
    /// Without a session, as it is.
    Stateless,
    /// Without a session, with what the modern era wants added.
    Translated,
    /// The server was not asked yet.
    Unknown,
}

/// Shares what is known between the keeper, who finds out, and the requests.
#[derive(Debug)]
pub(super) struct EraCell(watch::Sender<Speaks>);

impl EraCell {
    pub(super) fn new() -> Self {
        Self(watch::channel(Speaks::default()).0)
    }

    pub(super) fn get(&self) -> Speaks {
        *self.0.borrow()
    }

    pub(super) fn watch(&self) -> watch::Receiver<Speaks> {
        self.0.subscribe()
    }

    /// The keeper found out anew.
    pub(super) fn found(&self, speaks: Speaks) {
        self.0.send_replace(speaks);
    }

    /// A request found out whether `initialize` works.
    pub(super) fn initialize(&self, works: bool) {
        self.0.send_if_modified(|speaks| speaks.initialize.replace(works) != Some(works));
    }

    /// The way for a party: the client's era is mirrored where the server speaks it.
    pub(super) fn route(&self, party: &Party) -> Route {
        let speaks = self.get();
        match party.revision.era() {
            Era::Legacy if speaks.initialize == Some(false) => Route::Translated,
            Era::Legacy => Route::Session,
            Era::Modern => match speaks.modern {
                None => Route::Unknown,
                Some(true) => Route::Stateless,
                Some(false) if party.shared_by_strangers => Route::Fresh,
                Some(false) => Route::Session,
            },
        }
    }
}

/// Waits until the keeper found out; fails at once while the server is known to be away.
pub(super) async fn found_out(
    era: &EraCell,
    status: &Status,
    limit: Duration,
) -> Result<Speaks, Failure> {
    let mut speaks = era.watch();
    let mut snapshot = status.watch();
    let wait = async {
        loop {
            let known = *speaks.borrow_and_update();
            if known.modern.is_some() {
                return Ok(known);
            }
            snapshot.mark_unchanged();
            if let Some(failure) = status.away() {
                return Err(failure);
            }
            tokio::select! {
                changed = speaks.changed() => changed.map_err(|_closed| Failure::stopping())?,
                changed = snapshot.changed() => changed.map_err(|_closed| Failure::stopping())?,
            }
        }
    };
    let limit = limit + PROBE;
    timeout(limit, wait).await.unwrap_or_else(|_| Err(Failure::timeout(status.name(), limit)))
}
