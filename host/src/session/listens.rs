//! Streams of the modern era on which plugway tells of changes (`subscriptions/listen`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dashmap::DashMap;
use tokio::sync::watch;

use crate::fault::{Code, Fault};
use crate::pipeline::port::{End, Joined, Listener};
use crate::pipeline::{Caller, Filters, Outbox, PartyId};

/// Streams of one identified caller at once.
const MAX_OF_CALLER: usize = 256;

/// The streams that are open.
#[derive(Debug)]
pub(super) struct Listens {
    open: DashMap<PartyId, Listen>,
    /// How many there may be.
    limit: usize,
    /// There will be nothing to tell any more.
    closed: AtomicBool,
}

struct Listen {
    connector: Arc<str>,
    caller: Arc<Caller>,
    capabilities: Option<Arc<str>>,
    filters: Option<Arc<Filters>>,
    outbox: Arc<dyn Outbox>,
    over: watch::Sender<Option<End>>,
}

/// Keeps a stream entered.
struct Entered(Arc<Listens>, PartyId);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.open.remove(&self.1);
    }
}

impl Listens {
    pub(super) fn new(limit: usize) -> Self {
        Self { open: DashMap::new(), limit, closed: AtomicBool::new(false) }
    }

    /// Enters a stream until what is returned is dropped. Those that come in the same moment may exceed the limits by their
    /// number.
    pub(super) fn enter(
        self: &Arc<Self>,
        connector: &Arc<str>,
        stream: Listener,
    ) -> Result<Joined, Fault> {
        let Listener { party, caller, capabilities, filters, outbox, loads: _ } = stream;
        let own = || self.open.iter().filter(|listen| listen.caller.id == caller.id).count();
        if !caller.anonymous && own() >= MAX_OF_CALLER {
            let text = format!("You have {MAX_OF_CALLER} subscriptions open: close one first.");
            return Err(Fault::new(Code::Overloaded, text));
        }
        if self.open.len() >= self.limit {
            let text = format!("This server has {} subscriptions open: try later.", self.limit);
            return Err(Fault::new(Code::Overloaded, text));
        }
        let (over, ended) = watch::channel(None);
        let connector = connector.clone();
        let over_too = over.clone();
        let listen = Listen { connector, caller, capabilities, filters, outbox, over: over_too };
        self.open.insert(party, listen);
        // Whoever closes says so first: a stream that is not found then is entered after that, and ends here.
        if self.closed.load(Ordering::SeqCst) {
            over.send_replace(Some(End::Graceful));
        }
        Ok(Joined::new(ended, Entered(self.clone(), party)))
    }

    /// Ends the streams of the connectors that this is true for.
    pub(super) fn end(&self, how: End, of: impl Fn(&str) -> bool) {
        for listen in self.open.iter().filter(|listen| of(&listen.connector)) {
            // What ends every stream is not undone by what ends some.
            listen.over.send_if_modified(|end| {
                let counts = how != End::Replaced || end.is_none();
                if counts {
                    *end = Some(how);
                }
                counts
            });
        }
    }

    /// Ends every stream, and each that comes later as soon as it comes.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.end(End::Graceful, |_| true);
    }

    pub(super) fn of(&self, connector: &str) -> Vec<Listener> {
        let own = self.open.iter().filter(|listen| *listen.connector == *connector);
        own.map(|listen| Listener {
            party: *listen.key(),
            caller: listen.caller.clone(),
            capabilities: listen.capabilities.clone(),
            filters: listen.filters.clone(),
            loads: None,
            outbox: listen.outbox.clone(),
        })
        .collect()
    }
}

impl std::fmt::Debug for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listen").field("connector", &self.connector).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::pipeline::NoOutbox;

    fn stream(party: PartyId, caller: Arc<Caller>) -> Listener {
        let outbox = Arc::new(NoOutbox);
        Listener { party, caller, capabilities: None, filters: None, loads: None, outbox }
    }

    #[test]
    fn streams_are_bounded_for_each_caller_and_in_all() {
        let listens = Arc::new(Listens::new(MAX_OF_CALLER + 1));
        let hub: Arc<str> = "hub".into();
        let nobody = Arc::new(Caller::anonymous("a"));
        let known = Arc::new(Caller { anonymous: false, ..Caller::anonymous("b") });
        let enter = |n, caller: &Arc<Caller>| {
            let (party, caller) = (PartyId(n), caller.clone());
            listens.enter(&hub, stream(party, caller))
        };
        let mut open: Vec<Joined> =
            (0..).take(MAX_OF_CALLER).map(|n| enter(n, &known).unwrap()).collect();
        assert_eq!(enter(1_000, &known).unwrap_err().code(), Code::Overloaded);
        open.push(enter(1_001, &nobody).unwrap());
        assert_eq!(enter(1_002, &nobody).unwrap_err().code(), Code::Overloaded);
        assert_eq!(listens.of("hub").len(), open.len());
        listens.end(End::Graceful, |name| name == "other");
        assert!(open[0].over().now_or_never().is_none());
        listens.end(End::Graceful, |name| name == "hub");
        assert_eq!(open[0].over().now_or_never(), Some(End::Graceful));
        open.clear();
        assert!(listens.of("hub").is_empty());
    }

    #[test]
    fn who_comes_after_the_end_is_told_so() {
        let listens = Arc::new(Listens::new(3));
        let enter = |n| {
            let (party, caller) = (PartyId(n), Arc::new(Caller::anonymous("a")));
            listens.enter(&"hub".into(), stream(party, caller)).unwrap()
        };
        let mut early = enter(1);
        listens.end(End::Abrupt, |_| true);
        assert_eq!(early.over().now_or_never(), Some(End::Abrupt));
        let mut open = enter(2);
        assert!(open.over().now_or_never().is_none());
        let mut lists = enter(4).of_lists_only();
        drop(early);
        listens.end(End::Replaced, |_| true);
        assert_eq!(open.over().now_or_never(), Some(End::Replaced));
        assert!(lists.over().now_or_never().is_none(), "it listens at no server");
        listens.end(End::Abrupt, |_| true);
        listens.end(End::Replaced, |_| true);
        assert_eq!(lists.over().now_or_never(), Some(End::Abrupt));
        drop((open, lists));
        let mut open = enter(5);
        listens.close();
        assert_eq!(open.over().now_or_never(), Some(End::Graceful));
        assert_eq!(enter(3).over().now_or_never(), Some(End::Graceful));
    }
}
