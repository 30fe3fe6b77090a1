//! The bell by which requests, streams and operators tell the keeper that there is something to do.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// Rings that nobody answered yet run together: however many there are, the keeper comes once.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: Mutex<Rung>,
    called: Notify,
}

/// Why it rang.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rung {
    /// A request could not reach the server, or the server failed with it.
    pub(super) server: bool,
    /// A session or a stream is gone.
    pub(super) session: bool,
    /// The server says that a list of its has changed.
    pub(super) changed: bool,
    /// The operator wants an attempt now.
    pub(super) now: bool,
}

impl Bell {
    /// A request could not reach the server, or the server failed with it.
    pub(super) fn server(&self) {
        self.ring(|rung| rung.server = true);
    }

    /// The server does not know a session any more, or a stream broke.
    pub(super) fn session(&self) {
        self.ring(|rung| rung.session = true);
    }

    /// The server says that a list has changed.
    pub(super) fn changed(&self) {
        self.ring(|rung| rung.changed = true);
    }

    /// The operator wants an attempt now.
    pub(super) fn now(&self) {
        self.ring(|rung| rung.now = true);
    }

    fn ring(&self, note: impl FnOnce(&mut Rung)) {
        note(&mut self.rung.lock().unwrap_or_else(PoisonError::into_inner));
        self.called.notify_one();
    }

    /// Waits for a ring; gives all that were not answered.
    pub(super) async fn answer(&self) -> Rung {
        loop {
            self.called.notified().await;
            let rung = self.clear();
            if rung != Rung::default() {
                return rung;
            }
        }
    }

    /// Forgets what rang so far.
    pub(super) fn clear(&self) -> Rung {
        std::mem::take(&mut *self.rung.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether a notification says that a list of the server's has changed. Clients hear of changes from plugway itself, once
/// the merged list really differs.
pub(super) fn is_list_change(method: &str) -> bool {
    method.ends_with("/list_changed")
        && matches!(
            method,
            "notifications/tools/list_changed"
                | "notifications/prompts/list_changed"
                | "notifications/resources/list_changed"
        )
}
