//! The bell by which requests, streams and operators tell the keeper that there is something to do.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// Rings that nobody answered yet run together: however many there are, the keeper comes once.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: AtomicU8,
    called: Notify,
}

/// Why it rang: any of the reasons, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rung(u8);

const SERVER: u8 = 1;
const SESSION: u8 = 2;
const CHANGED: u8 = 4;
const NOW: u8 = 8;

impl Rung {
    /// A request could not reach the server, or the server failed with it.
    pub(super) fn server(self) -> bool {
        self.0 & SERVER != 0
    }

    /// A session or a stream is gone.
    pub(super) fn session(self) -> bool {
        self.0 & SESSION != 0
    }

    /// The server says that a list of its has changed.
    pub(super) fn changed(self) -> bool {
        self.0 & CHANGED != 0
    }

    /// The operator wants an attempt now.
    pub(super) fn now(self) -> bool {
        self.0 & NOW != 0
    }
}

impl Bell {
    /// A request could not reach the server, or the server failed with it.
    pub(super) fn server(&self) {
        self.ring(SERVER);
    }

    /// The server does not know a session any more, or a stream broke.
    pub(super) fn session(&self) {
        self.ring(SESSION);
    }

    /// The server says that a list has changed.
    pub(super) fn changed(&self) {
        self.ring(CHANGED);
    }

    /// The operator wants an attempt now.
    pub(super) fn now(&self) {
        self.ring(NOW);
    }

    fn ring(&self, why: u8) {
        self.rung.fetch_or(why, Ordering::AcqRel);
        self.called.notify_one();
    }

    /// Waits for a ring; gives all that were not answered.
    pub(super) async fn answer(&self) -> Rung {
        loop {
            self.called.notified().await;
            let rung = self.rung.swap(0, Ordering::AcqRel);
            if rung != 0 {
                return Rung(rung);
            }
        }
    }

    /// Forgets what rang so far.
    pub(super) fn clear(&self) {
        self.rung.store(0, Ordering::Release);
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
