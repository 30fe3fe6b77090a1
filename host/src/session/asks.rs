//! Requests of servers that wait for the client's answer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::pipeline::port::{Ask, AskReply, Notification};
use crate::protocol::{Field, Id, Message, Method, message, scan, splice};
use crate::telemetry::audit::{self, Said};

/// Requests that may wait in one session; for one more the oldest is given up.
const MAX_ASKS: usize = 64;

/// The requests by the numbers under which the client knows them: servers give ids of their own, and these may be equal.
#[derive(Debug, Default)]
pub struct Asks {
    table: Mutex<Table>,
    /// Whom they are put to.
    about: About,
}

/// Whose client is asked, as the audit tells it.
#[derive(Debug, Default)]
struct About {
    connector: Arc<str>,
    caller: Arc<str>,
    session: Arc<str>,
}

#[derive(Debug, Default)]
struct Table {
    waiting: BTreeMap<u64, Waiting>,
    last: u64,
}

#[derive(Debug)]
struct Waiting {
    upstream: Arc<str>,
    method: Box<str>,
    /// JSON text of the server's own progress token.
    token: Option<Box<str>>,
    reply: AskReply,
}

impl Asks {
    /// Those of a session: its connector, its caller for people, and its keyed hash.
    pub(super) fn of(connector: &Arc<str>, caller: &Arc<str>, session: &Arc<str>) -> Self {
        let (connector, caller, session) = (connector.clone(), caller.clone(), session.clone());
        Self { table: Mutex::default(), about: About { connector, caller, session } }
    }

    /// Enters a request; its text as the client gets it. A progress token is replaced together with the id.
    pub fn enter(&self, ask: Ask) -> Bytes {
        let Ask { upstream, message, reply } = ask;
        let mut table = self.lock();
        table.last += 1;
        let number = table.last;
        let token = message.field(Field::MetaProgressToken).map(Into::into);
        let method = message.method_name().into();
        table.waiting.insert(number, Waiting { upstream, method, token, reply });
        let given_up =
            if table.waiting.len() > MAX_ASKS { table.waiting.pop_first() } else { None };
        drop(table);
        if let Some((_, given_up)) = given_up {
            self.tell(&given_up, "unanswered");
        }
        let number = number.to_string();
        let mut edits = vec![(message.id_span(), number.as_bytes())];
        let span = message.span(Field::MetaProgressToken);
        if !span.is_empty() {
            edits.push((span, number.as_bytes()));
        }
        edits.sort_unstable_by_key(|(span, _)| span.range().start);
        splice(message.text(), &edits)
    }

    /// Hands the client's response to the server that asked; false when nobody did.
    pub fn answer(&self, response: &Message) -> bool {
        let number = response.id().and_then(|id| id.as_json().parse().ok());
        let waiting = number.and_then(|number: u64| self.lock().waiting.remove(&number));
        waiting.is_some_and(|waiting| {
            self.tell(&waiting, &outcome(response));
            waiting.reply.answer(response);
            true
        })
    }

    /// A server's notification as the client gets it: when the server gives up a request of its own, the client hears of
    /// the one that it knows. None when it knows of no such request.
    pub fn notification(&self, note: Notification) -> Option<Bytes> {
        let Ok(message) = Message::parse(note.text.clone()) else { return None };
        if message.method() != Method::Cancelled {
            return Some(note.text);
        }
        let id = message.field(Field::RequestId).and_then(Id::parse)?;
        let mut table = self.lock();
        let known =
            |waiting: &Waiting| waiting.upstream == note.upstream && *waiting.reply.id() == id;
        let number = table.waiting.iter().find(|(_, waiting)| known(waiting))?.0;
        let number = *number;
        let given_up = table.waiting.remove(&number);
        drop(table);
        // The server waits no more: it is not told anything.
        if let Some(given_up) = given_up {
            self.tell(&given_up, "withdrawn");
            given_up.reply.forget();
        }
        let span = message.span(Field::RequestId);
        Some(splice(&note.text, &[(span, number.to_string().as_bytes())]))
    }

    /// The client's progress on a server's request: for which server, and under its own token.
    pub fn progress(&self, progress: &Message) -> Option<(Arc<str>, Message)> {
        let number: u64 = progress.field(Field::ProgressToken)?.parse().ok()?;
        let table = self.lock();
        let Waiting { upstream, token, .. } = table.waiting.get(&number)?;
        let edit = [(progress.span(Field::ProgressToken), token.as_deref()?.as_bytes())];
        let message = Message::parse(splice(progress.text(), &edit)).ok()?;
        Some((upstream.clone(), message))
    }

    /// The client is gone: every server that waits is told so.
    pub fn clear(&self) {
        let all = std::mem::take(&mut self.lock().waiting);
        for waiting in all.values() {
            self.tell(waiting, "unanswered");
        }
        drop(all);
    }

    /// Tells the audit what became of a request.
    fn tell(&self, waiting: &Waiting, outcome: &str) {
        audit::event(
            "server-request",
            &[
                ("connector", Said::Text(&self.about.connector)),
                ("caller", Said::Text(&self.about.caller)),
                ("session", Said::Text(&self.about.session)),
                ("upstream", Said::Text(&waiting.upstream)),
                ("method", Said::Text(&waiting.method)),
                ("outcome", Said::Text(outcome)),
            ],
        );
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client made of a request: of an elicitation its own word, `accept`, `decline` or `cancel`.
fn outcome(response: &Message) -> Cow<'_, str> {
    let Some(result) = response.result() else { return "error".into() };
    let action = scan::member(result, "action").and_then(|span| result.get(span.range()));
    action.and_then(message::string).unwrap_or("answered".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Got = Arc<Mutex<Vec<Message>>>;

    fn message(text: &str) -> Message {
        Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    fn ask(upstream: &str, id: &str) -> (Ask, Got) {
        let got = Got::default();
        let kept = Arc::clone(&got);
        let text = format!(
            r#"{{"params":{{"_meta":{{"progressToken":"t"}},"x":1.0}},"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#
        );
        let reply = AskReply::new(Id::parse(id).unwrap(), move |response| {
            kept.lock().unwrap().push(response);
        });
        (Ask { upstream: upstream.into(), message: message(&text), reply }, got)
    }

    #[test]
    fn equal_ids_of_two_servers_are_told_apart() {
        let asks = Asks::default();
        let ((one, first), (other, second)) = (ask("a", "1"), ask("b", "1"));
        let texts = [asks.enter(one), asks.enter(other)];
        assert_eq!(
            texts[1],
            r#"{"params":{"_meta":{"progressToken":2},"x":1.0},"jsonrpc":"2.0","id":2,"method":"roots/list"}"#
        );
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#;
        let (upstream, told) = asks.progress(&message(progress)).unwrap();
        assert_eq!((&*upstream, told.field(Field::ProgressToken)), ("b", Some("\"t\"")));
        assert!(asks.answer(&message(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)));
        assert!(!asks.answer(&message(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)), "once");
        assert!(!asks.answer(&message(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#)));
        assert_eq!(second.lock().unwrap()[0].id().unwrap().as_json(), "1");
        assert!(first.lock().unwrap().is_empty());
        asks.clear();
        assert!(first.lock().unwrap()[0].error().is_some());
    }

    #[test]
    fn a_request_that_its_server_gives_up_is_given_up_under_the_clients_number() {
        let asks = Asks::default();
        let (one, got) = ask("a", r#""x""#);
        asks.enter(one);
        let note = |upstream: &str, id: &str| {
            Notification {
            upstream: upstream.into(),
            text: format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#).into(),
        }
        };
        assert!(asks.notification(note("b", r#""x""#)).is_none(), "it is not its own");
        let told = asks.notification(note("a", r#""\u0078""#)).unwrap();
        assert_eq!(told, note("a", "1").text);
        assert!(got.lock().unwrap().is_empty(), "who waits no more is told nothing");
        assert!(asks.notification(note("a", r#""x""#)).is_none());
    }

    #[test]
    fn for_one_too_many_the_oldest_is_given_up() {
        let asks = Asks::default();
        let all: Vec<_> = (0..=MAX_ASKS).map(|n| ask("a", &n.to_string())).collect();
        let mut got = Vec::new();
        for (ask, one) in all {
            asks.enter(ask);
            got.push(one);
        }
        assert!(got[0].lock().unwrap()[0].error().is_some());
        assert!(got[1].lock().unwrap().is_empty());
    }
}
