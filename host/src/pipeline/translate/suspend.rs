//! A call in the middle of which a server of the legacy era asks a client of the modern era: the client's request is
//! answered with the questions, and the call waits until the client sends it again with the answers.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use super::declared::{capability, declared};
use super::input;
use super::limits::{GATHERED, QUESTIONS, TOGETHER};
use super::suspended::Kept;
use super::{Side, allowed};
use crate::fault::Fault;
use crate::pipeline::port::{Answer, Ask, Incoming, Messages, Notification, Upstream};
use crate::pipeline::request::Flight;
use crate::protocol::{Field, Id, Message, Method, splice};

/// What a server gets whose question the client of this call does not answer.
const NOT_DECLARED: &str = r#"{"code":-32601,"message":"The client of this call declared no capability for this request."}"#;
/// What a server gets that asks too much at once.
const TOO_MANY: &str = r#"{"code":-32603,"message":"Too many requests to the client are open."}"#;

/// A call that its server has begun.
pub(super) struct Waiting {
    pub(super) upstream: Arc<dyn Upstream>,
    messages: Messages,
    /// Its questions that the client has not answered, each under a key of its own.
    open: Vec<(String, Ask)>,
    /// How many keys were given.
    keys: u32,
    /// The request as the server got it.
    request: Message,
    /// What the call was begun with goes on with it.
    _flight: Arc<Flight>,
}

/// The messages of a call for a client of the modern era.
struct Reading {
    side: Side,
    /// None once nothing more is read.
    waiting: Option<Waiting>,
    /// What the client gets next. The response is the last.
    ready: VecDeque<Result<Incoming, Fault>>,
}

/// The messages of an answer, up to the first question.
pub(super) fn stream(side: Side, messages: Messages) -> Answer {
    let (upstream, request) = (side.upstream.clone(), side.request.message.clone());
    let flight = side.request.flight.clone();
    let waiting =
        Waiting { upstream, messages, open: Vec::new(), keys: 0, request, _flight: flight };
    Reading { side, waiting: Some(waiting), ready: VecDeque::new() }.into_answer()
}

/// Hands the client's answers to the server that asked, and reads on. Whatever is not answered is asked again.
pub(super) fn resume(side: Side, mut waiting: Waiting, answers: &str) -> Result<Answer, Fault> {
    let open = std::mem::take(&mut waiting.open);
    for (key, ask) in open {
        let result = input::answer(answers, &key);
        let text = result.map(|result| format!(r#"{{"jsonrpc":"2.0","id":0,"result":{result}}}"#));
        match text.and_then(|text| Message::parse(text.into()).ok()) {
            Some(response) => ask.reply.answer(&response),
            None => waiting.open.push((key, ask)),
        }
    }
    let mut reading = Reading { side, waiting: None, ready: VecDeque::new() };
    if waiting.open.is_empty() {
        reading.waiting = Some(waiting);
    } else {
        let text = reading.side.suspended(waiting)?;
        reading.ready.push_back(Ok(Incoming::Response(text)));
    }
    Ok(reading.into_answer())
}

impl Reading {
    fn into_answer(self) -> Answer {
        Answer::messages(stream::unfold(self, |mut reading| async move {
            let item = reading.next().await?;
            Some((item, reading))
        }))
    }

    async fn next(&mut self) -> Option<Result<Incoming, Fault>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            let mut waiting = self.waiting.take()?;
            let first = waiting.messages.next().await?;
            self.waiting = Some(waiting);
            self.take(first).await;
            self.gather().await;
        }
    }

    /// What comes soon after a question is asked together with it.
    async fn gather(&mut self) {
        let due = Instant::now() + GATHERED;
        while let Some(waiting) = self.waiting.as_mut().filter(|waiting| !waiting.open.is_empty()) {
            let soon = due.min(Instant::now() + TOGETHER);
            match timeout_at(soon, waiting.messages.next()).await {
                Ok(Some(item)) => self.take(item).await,
                Ok(None) => self.waiting = None,
                Err(_elapsed) => {
                    let Some(waiting) = self.waiting.take() else { return };
                    let text = self.side.suspended(waiting);
                    self.ready.push_back(text.map(Incoming::Response));
                }
            }
        }
    }

    async fn take(&mut self, item: Result<Incoming, Fault>) {
        let Some(waiting) = self.waiting.as_mut() else { return };
        match item {
            Ok(Incoming::Ask(ask)) => {
                waiting.ask(ask, self.side.request.party.capabilities.as_deref());
            }
            Ok(Incoming::Notification(note)) => {
                let note = waiting.note(note, &self.side.request.message);
                let side = &self.side;
                let note = note.and_then(|note| {
                    allowed::notification(&*side.upstream, &side.request.party, note)
                });
                self.ready.extend(note.map(|note| Ok(Incoming::Notification(note))));
            }
            Ok(Incoming::Response(text)) => {
                let text = self.side.last(&waiting.request, text).await;
                self.ready.push_back(text.map(Incoming::Response));
                self.end();
            }
            Ok(Incoming::Break(_)) => {}
            Err(fault) => {
                self.ready.push_back(Err(fault));
                self.end();
            }
        }
    }

    /// The server has done with the call, and waits for no answer.
    fn end(&mut self) {
        let open = self.waiting.take().map(|waiting| waiting.open);
        for (_, ask) in open.into_iter().flatten() {
            ask.reply.forget();
        }
    }
}

impl Waiting {
    fn ask(&mut self, ask: Ask, capabilities: Option<&str>) {
        if !declared(&ask.message, capabilities.unwrap_or("{}")) {
            return ask.reply.refuse(NOT_DECLARED);
        }
        if self.open.len() >= QUESTIONS {
            return ask.reply.refuse(TOO_MANY);
        }
        self.keys += 1;
        let word = capability(&ask.message).unwrap_or("request");
        self.open.push((format!("\"{word}-{}\"", self.keys), ask));
    }

    /// A notification for the client of `request`: progress goes by the token of that request. A server that gives up a
    /// question does not wait for its answer; the client has no such request.
    fn note(&mut self, note: Notification, request: &Message) -> Option<Notification> {
        let Ok(message) = Message::parse(note.text.clone()) else { return Some(note) };
        match message.method() {
            Method::Cancelled => {
                let id = message.field(Field::RequestId).and_then(Id::parse)?;
                let at = self.open.iter().position(|(_, ask)| *ask.reply.id() == id)?;
                self.open.remove(at).1.reply.forget();
                None
            }
            Method::Progress => {
                let token =
                    |message: &Message| message.field(Field::MetaProgressToken).map(str::to_owned);
                let (sent, now) = (token(&self.request), token(request));
                if sent == now || message.field(Field::ProgressToken) != sent.as_deref() {
                    return Some(note);
                }
                let span = message.span(Field::ProgressToken);
                let text = splice(&note.text, &[(span, now?.as_bytes())]);
                Some(Notification { text, ..note })
            }
            _ => Some(note),
        }
    }
}

impl Side {
    /// Lets the call wait; the response that asks the client.
    fn suspended(&self, waiting: Waiting) -> Result<Bytes, Fault> {
        let id = self.request.message.id().cloned().unwrap_or_else(|| Id::number(0));
        let asked: Vec<(String, Message)> =
            waiting.open.iter().map(|(key, ask)| (key.clone(), ask.message.clone())).collect();
        let state = self.keep(Kept::Call(Box::new(waiting)))?;
        let questions = asked.iter().map(|(key, message)| (key.as_str(), message));
        Ok(input::required(&id, questions, &state))
    }

    /// The response to what the server got as `request`, for the client of this request.
    async fn last(&self, request: &Message, text: Bytes) -> Result<Bytes, Fault> {
        let id = self.request.message.id();
        let text = match (Message::parse(text.clone()), id) {
            (Ok(response), Some(id)) if request.id() != Some(id) => {
                splice(&text, &[(response.id_span(), id.as_json().as_bytes())])
            }
            _ => text,
        };
        Ok(self.response(text, None).await?.text)
    }
}
