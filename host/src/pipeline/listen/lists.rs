//! What plugway tells of its lists, until the client's stream takes it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::pipeline::announced::LISTS;
use crate::pipeline::level::Level;
use crate::pipeline::notice::METHODS;
use crate::pipeline::party::Outbox;
use crate::pipeline::port::{Incoming, Promise};
use crate::protocol::Message;

/// The lists that changed. A list that changes twice before anybody looks has changed once, so nothing can pile up.
#[derive(Debug)]
pub(super) struct ListChanges {
    wanted: [bool; LISTS.len()],
    changed: Mutex<[Option<Bytes>; LISTS.len()]>,
    called: Notify,
}

impl ListChanges {
    /// For a client that wants to hear of these lists.
    pub(super) fn new(wanted: [bool; LISTS.len()]) -> Self {
        Self { wanted, changed: Mutex::default(), called: Notify::new() }
    }

    /// The next notification.
    pub(super) async fn next(&self) -> Bytes {
        loop {
            if let Some(text) = self.lock().iter_mut().find_map(Option::take) {
                return text;
            }
            // A call that came in between is kept.
            self.called.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, [Option<Bytes>; LISTS.len()]> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox for ListChanges {
    fn offer(&self, message: Bytes) -> bool {
        let Ok(method) = Message::parse(message.clone()).map(|message| message.method()) else {
            return false;
        };
        let list = METHODS.iter().position(|known| *known == method);
        let wanted = list.filter(|list| self.wanted.get(*list) == Some(&true));
        let Some(list) = wanted else { return false };
        if let Some(place) = self.lock().get_mut(list) {
            *place = Some(message);
        }
        self.called.notify_one();
        true
    }

    fn forward(&self, _message: Incoming) -> bool {
        false
    }

    fn listened(&self) -> Promise<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn offer_once(&self, message: Bytes) -> bool {
        self.offer(message)
    }

    fn saw(&self, _list: usize, _generation: u32) {}

    fn take_seen(&self) -> [(u32, u32); 3] {
        [(0, 0); 3]
    }

    fn wants(&self, _level: Level) -> bool {
        false
    }

    fn level(&self) -> Option<Level> {
        None
    }

    fn set_level(&self, _level: Level) {}
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn each_wanted_list_is_told_once_however_often_it_changed() {
        let changes = ListChanges::new([true, false, true]);
        let text = |list: &str| {
            Bytes::from(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/{list}/list_changed"}}"#
            ))
        };
        assert!(!changes.offer_once(text("prompts")) && !changes.offer("?".into()));
        for list in ["resources", "tools", "tools"] {
            assert!(changes.offer_once(text(list)));
        }
        assert_eq!(changes.next().now_or_never(), Some(text("tools")));
        assert_eq!(changes.next().now_or_never(), Some(text("resources")));
        assert_eq!(changes.next().now_or_never(), None);
    }
}
