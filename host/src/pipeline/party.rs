//! On whose behalf plugway talks to an upstream.

use std::sync::Arc;

use bytes::Bytes;

use super::lazy::Loads;
use super::level::Level;
use super::port::{Incoming, Promise};
use crate::protocol::{Message, Revision, message, scan};

/// Identifies a party inside this process: never leaves it and is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartyId(pub u64);

/// One legacy client session, one modern caller, or plugway itself when it reads a catalogue. An upstream keeps its
/// own session for each party that it serves, so that parties never see each other's state.
pub struct Party {
    /// Key of the upstream's session.
    pub id: PartyId,
    /// The revision that the client speaks.
    pub revision: Revision,
    /// Whether nobody can be told apart behind this party: each request of it then gets fresh state.
    pub shared_by_strangers: bool,
    /// JSON text of `clientInfo`, as the client sent it.
    pub client_info: Option<Arc<str>>,
    /// JSON text of the client's capabilities, as the client sent them.
    pub capabilities: Option<Arc<str>>,
    /// The members of the params of `initialize` besides those of which plugway makes its own, as the client sent them, with
    /// commas between them; none in the modern era, where each request has its own.
    pub further: Option<Arc<str>>,
    /// Tools that it has loaded of a lazy connector; none where nothing is kept between requests.
    pub loads: Option<Arc<Loads>>,
    /// Takes notifications that belong to no call in flight.
    pub outbox: Arc<dyn Outbox>,
}

/// What the params of `initialize` say besides those members of which plugway makes its own: JSON text of members with commas
/// between them; none where there is nothing else. Servers get it as it is.
pub fn further(initialize: &Message) -> Option<Arc<str>> {
    const OWN: [&str; 3] = ["protocolVersion", "capabilities", "clientInfo"];
    let params = initialize.params()?;
    let kept = scan::members(params)?.into_iter().filter_map(|(key, value)| {
        let name = message::string(params.get(key.range())?)?;
        let member = params.get(key.range().start..value.range().end)?;
        (!OWN.contains(&&*name)).then_some(member)
    });
    let kept: Vec<&str> = kept.collect();
    (!kept.is_empty()).then(|| kept.join(",").into())
}

/// Where an upstream puts a notification for a client that belongs to no call in flight.
///
/// Nothing has a default: who stands before another outbox passes everything on, and forgets nothing without being told.
pub trait Outbox: Send + Sync {
    /// Queues a JSON-RPC message; false when the queue is full or nobody listens, and the message is dropped.
    fn offer(&self, message: Bytes) -> bool;
    /// Queues a server's message; false when the queue is full or nobody listens. A request is refused then.
    fn forward(&self, message: Incoming) -> bool;
    /// Done once the client listens, be it the first time or not; never where nobody will.
    fn listened(&self) -> Promise<'_, ()>;
    /// As [`Outbox::offer`], but for a message that waits there already: it is not queued twice.
    fn offer_once(&self, message: Bytes) -> bool;
    /// The client was given a list of this generation of the catalogue; `list` is its place among tools, prompts and
    /// resources.
    fn saw(&self, list: usize, generation: u32);
    /// Of tools, prompts and resources: the generation that the client was given first since this was last asked, and the
    /// one that it was given last; 0 = none.
    fn take_seen(&self) -> [(u32, u32); 3];
    /// Whether the client wants log messages of this level.
    fn wants(&self, level: Level) -> bool;
    /// The level that the client asked for; none while it never did.
    fn level(&self) -> Option<Level>;
    /// The client wants log messages of this level and graver ones.
    fn set_level(&self, level: Level);
}

/// An outbox of somebody who does not listen.
#[derive(Debug)]
pub struct NoOutbox;

impl Outbox for NoOutbox {
    fn offer(&self, _message: Bytes) -> bool {
        false
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

impl std::fmt::Debug for Party {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Party")
            .field("id", &self.id)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_is_said_at_the_start_is_kept_as_it_was_written() {
        for (params, kept) in [
            (r#"{"protocolVersion":"1","clientInfo":{"x":1.0},"capabilities":{}}"#, None),
            (
                r#"{"_meta": {"n":1.0} ,"clientInfo":{},"\u0078":[ 1 ]}"#,
                Some(r#""_meta": {"n":1.0},"\u0078":[ 1 ]"#),
            ),
            (
                r#"{"client\u0049nfo":{},"y":12345678901234567890}"#,
                Some(r#""y":12345678901234567890"#),
            ),
            ("{}", None),
        ] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
            let message = Message::parse(text.into()).unwrap();
            assert_eq!(further(&message).as_deref(), kept, "{params}");
        }
    }
}
