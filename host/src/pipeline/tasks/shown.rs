//! What a server that has tasks sends, with the ids under which the caller knows them.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::ids::TaskIds;
use super::made::Made;
use super::serve::About;
use super::texts;
use crate::fault::Fault;
use crate::pipeline::caller::Caller;
use crate::pipeline::collect::{Held, hold};
use crate::pipeline::connector::Connector;
use crate::pipeline::level::Level;
use crate::pipeline::party::{Outbox, Party};
use crate::pipeline::port::{Answer, Ask, Body, Incoming, Json, Promise};
use crate::protocol::Message;

/// Bytes of an answer about a task that are held back to look for ids; a larger one passes as it is.
const HELD: usize = 16 * 1024 * 1024;

/// Shows one server's tasks to one caller.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Shown {
    ids: TaskIds,
    upstream: Arc<str>,
    made: Arc<Made>,
    caller: Arc<str>,
}

impl Shown {
    pub(in crate::pipeline) fn new(
        connector: &Connector,
        caller: &Caller,
        upstream: &Arc<str>,
    ) -> Self {
        Self {
            ids: TaskIds::of(connector, caller),
            upstream: upstream.clone(),
            made: connector.tasks.clone(),
            caller: caller.id.clone(),
        }
    }

    /// The party, with an outbox that changes what the server says outside of a call.
    pub(in crate::pipeline) fn party(&self, party: &Party) -> Arc<Party> {
        let outbox = ShownOutbox { shown: self.clone(), outbox: party.outbox.clone() };
        Arc::new(Party {
            id: party.id,
            revision: party.revision,
            shared_by_strangers: party.shared_by_strangers,
            client_info: party.client_info.clone(),
            capabilities: party.capabilities.clone(),
            further: party.further.clone(),
            loads: party.loads.clone(),
            outbox: Arc::new(outbox),
        })
    }

    /// A client's message for the server.
    pub(in crate::pipeline) fn message(&self, message: Message) -> Message {
        let changed = texts::of_client(message.text(), |id| {
            let (upstream, own) = self.ids.opened(id)?;
            (*upstream == *self.upstream).then(|| own.to_owned())
        });
        changed.and_then(|text| Message::parse(text).ok()).unwrap_or(message)
    }

    /// A server's answer for the client.
    pub(in crate::pipeline) async fn answer(
        self,
        answer: Answer,
        about: About,
    ) -> Result<Answer, Fault> {
        match answer {
            Answer::Json(Json { body, refusal }) => {
                let limit = if about == About::Nothing { 0 } else { HELD };
                let body = match body {
                    Body::Whole(text) => Body::Whole(self.response(text, about)),
                    body @ Body::Stream(..) => match hold(body, limit).await? {
                        Held::Whole(text) => Body::Whole(self.response(text, about)),
                        Held::Large(body) => body,
                    },
                };
                Ok(Answer::Json(Json { body, refusal }))
            }
            Answer::Messages(messages) => Ok(Answer::messages(
                messages.map(move |message| message.map(|message| self.of_call(message, about))),
            )),
        }
    }

    /// A response: whose it is has the tasks in it, but for those of a list, of which the caller sees its own.
    fn response(&self, text: Bytes, about: About) -> Bytes {
        if about == About::All {
            let own = |id: &str| {
                let shown = self.ids.shown(&self.upstream, id);
                shown.is_ok_and(|shown| self.made.has(&self.caller, &shown))
            };
            return self.text(texts::listed(&text, own).unwrap_or(text));
        }
        let show = |own: &str| {
            let shown = self.ids.shown(&self.upstream, own).ok()?;
            self.made.add(&self.caller, &shown);
            Some(shown)
        };
        texts::of_server(&text, show).unwrap_or(text)
    }

    fn of_call(&self, message: Incoming, about: About) -> Incoming {
        match message {
            Incoming::Response(text) => Incoming::Response(self.response(text, about)),
            message => self.incoming(message),
        }
    }

    fn text(&self, text: Bytes) -> Bytes {
        let show = |own: &str| self.ids.shown(&self.upstream, own).ok();
        texts::of_server(&text, show).unwrap_or(text)
    }

    fn incoming(&self, message: Incoming) -> Incoming {
        match message {
            Incoming::Response(text) => Incoming::Response(self.text(text)),
            Incoming::Break(wait) => Incoming::Break(wait),
            Incoming::Notification(mut note) => {
                note.text = self.text(note.text);
                Incoming::Notification(note)
            }
            Incoming::Ask(Ask { upstream, message, reply }) => {
                let text = self.text(message.text().clone());
                let message = Message::parse(text).unwrap_or(message);
                let shown = self.clone();
                let reply = reply.map(move |response| shown.message(response));
                Incoming::Ask(Ask { upstream, message, reply })
            }
        }
    }
}

/// A party's outbox for one server.
struct ShownOutbox {
    shown: Shown,
    outbox: Arc<dyn Outbox>,
}

impl Outbox for ShownOutbox {
    fn offer(&self, message: Bytes) -> bool {
        self.outbox.offer(message)
    }

    fn forward(&self, message: Incoming) -> bool {
        self.outbox.forward(self.shown.incoming(message))
    }

    fn listened(&self) -> Promise<'_, ()> {
        self.outbox.listened()
    }

    fn offer_once(&self, message: Bytes) -> bool {
        self.outbox.offer_once(message)
    }

    fn saw(&self, list: usize, generation: u32) {
        self.outbox.saw(list, generation);
    }

    fn take_seen(&self) -> [(u32, u32); 3] {
        self.outbox.take_seen()
    }

    fn wants(&self, level: Level) -> bool {
        self.outbox.wants(level)
    }

    fn level(&self) -> Option<Level> {
        self.outbox.level()
    }

    fn set_level(&self, level: Level) {
        self.outbox.set_level(level);
    }
}
