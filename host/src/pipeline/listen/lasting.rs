//! Whether there is anything left to hear.

use bytes::Bytes;

use super::filter::Filter;
use crate::protocol::{Message, Method};

/// Which servers ended their share of a stream with a result. The client's stream ends so, too, once all did that have one and
/// none has begun anew, unless the client wants to hear of lists, of which plugway tells itself.
#[derive(Debug)]
pub(super) struct Lasting {
    lists: bool,
    ended: Vec<bool>,
}

impl Lasting {
    /// So many servers honour something.
    pub(super) fn new(filter: &Filter, servers: usize) -> Self {
        Self { lists: filter.lists.contains(&true), ended: vec![false; servers] }
    }

    /// A server ended its share with a result; says whether nothing is left.
    pub(super) fn ends(&mut self, place: usize) -> bool {
        if let Some(ended) = self.ended.get_mut(place) {
            *ended = true;
        }
        !self.lists && self.ended.iter().all(|ended| *ended)
    }

    /// Whether this is how a server that had ended begins anew, which is no news for the client.
    pub(super) fn begins(&mut self, place: usize, notification: &Bytes) -> bool {
        let Some(ended) = self.ended.get_mut(place).filter(|ended| **ended) else { return false };
        let message = Message::parse(notification.clone());
        *ended = message.is_ok_and(|message| message.method() != Method::Acknowledged);
        !*ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(method: &str) -> Bytes {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}"}}"#).into()
    }

    #[test]
    fn it_ends_once_every_server_did_and_none_began_anew() {
        let (again, update) = (note("subscriptions/acknowledged"), note("resources/updated"));
        let mut lasting = Lasting::new(&Filter::default(), 2);
        assert!(!lasting.begins(0, &again), "it did not end");
        assert!(!lasting.ends(0) && !lasting.begins(0, &update) && lasting.begins(0, &again));
        assert!(!lasting.ends(1), "the other one is there again");
        assert!(lasting.ends(0));
        let lists = Filter { lists: [false, true, false], ..Filter::default() };
        assert!(!Lasting::new(&lists, 1).ends(0), "plugway tells of lists");
    }
}
