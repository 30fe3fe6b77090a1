//! What a server's HTTP response means for the request that it answers.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use futures_util::stream;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{Response, StatusCode};
use hyper::body::Incoming as Arriving;
use tokio::time::timeout;

use super::ask::complains_about_session;
use super::body::{Drainer, Pace, Source};
use super::endpoint::Endpoint;
use super::events::{Events, Item, is_events, is_json};
use super::hold::Hold;
use super::request::Head;
use super::respond::Respondent;
use super::resume::Resume;
use super::session::Session;
use super::translated::Translated;
use crate::fault::Fault;
use crate::pipeline::port::{Answer, Body, Incoming, Json, Messages, Notification};
use crate::protocol::{Id, Kind, Message, scan};
use crate::upstream::failure::Failure;
use crate::upstream::limits::{ANSWER, ERROR_BODY, FIRST_EVENT, WHOLE_ANSWER};
use crate::upstream::peek::Peek;
use crate::upstream::{authored, batch};

/// One call under way.
pub(super) struct Call {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) id: Id,
    pub(super) head: Head,
    /// Answers what the server asks on the way.
    pub(super) respondent: Respondent,
    /// Where a stream that ends too early is asked for again: in the legacy era only.
    pub(super) session: Option<Weak<Session>>,
    pub(super) pace: Pace,
    /// Reads on when nobody waits any more: in the legacy era only.
    pub(super) drainer: Option<Arc<Drainer>>,
    /// Kept until the answer ended.
    pub(super) hold: Hold,
    /// What a modern client asked of a server of the legacy era: the answer gets what that client requires.
    pub(super) translated: Option<Translated>,
}

/// What came of a call.
pub(super) enum Outcome {
    /// An answer.
    Answer(Answer),
    /// The server does not know the session any more, so the request was not started.
    SessionGone,
}

impl Call {
    /// Reads the answer up to the point where it can be handed on.
    pub(super) async fn read(self, response: Response<Arriving>) -> Result<Outcome, Failure> {
        let (parts, body) = response.into_parts();
        let name = Arc::clone(self.endpoint.status.name());
        let source = Source::new(body, name, self.pace, self.drainer.clone());
        let kind = parts.headers.get(CONTENT_TYPE);
        if parts.headers.contains_key(CONTENT_ENCODING) {
            let what = "compressed its answer although nothing was accepted but plain text";
            return Err(Failure::broken(self.endpoint.name(), what));
        }
        match parts.status {
            StatusCode::OK if is_json(kind) => self.json(source).await.map(Outcome::Answer),
            StatusCode::OK if is_events(kind) => {
                Box::pin(self.events(source)).await.map(Outcome::Answer)
            }
            StatusCode::NOT_FOUND if self.head.session.is_some() => {
                Box::pin(self.not_found(source, is_json(kind))).await
            }
            status => Box::pin(self.error(status, source, is_json(kind))).await,
        }
    }

    /// 404 in a session says that the session is gone, unless the body answers this very request.
    async fn not_found(mut self, mut source: Source, json: bool) -> Result<Outcome, Failure> {
        self.hold.done();
        if !json {
            self.endpoint.status.bell.session();
            return Ok(Outcome::SessionGone);
        }
        let (text, complete) = source.up_to(ERROR_BODY).await?;
        let answers = complete && Peek::read(&text).is_ok_and(|peek| peek.answers(&self.id));
        let denies = || {
            let message = Message::parse(text.clone()).ok();
            message.as_ref().and_then(Message::error).is_some_and(complains_about_session)
        };
        if !answers || denies() {
            // The catalogue's own session is likely to be gone with it.
            self.endpoint.status.bell.session();
            return Ok(Outcome::SessionGone);
        }
        let text = match &self.translated {
            Some(translated) => translated.answer(text),
            None => text,
        };
        Ok(Outcome::Answer(Answer::whole(text)))
    }

    /// A client must not get the answer to another question, nor what no client can read.
    fn check(&self, text: &Bytes) -> Result<(), Failure> {
        let name = self.endpoint.name();
        match Message::parse(text.clone()) {
            Ok(message) if message.kind() == Kind::Response && message.id() == Some(&self.id) => {
                Ok(())
            }
            Ok(_) => Err(Failure::broken(name, "answered something else than was asked")),
            Err(error) => {
                Err(Failure::broken(name, "answered what is not JSON-RPC").because(error))
            }
        }
    }

    async fn json(mut self, mut source: Source) -> Result<Answer, Failure> {
        let length = source.length();
        if length.is_some_and(|length| length > ANSWER as u64) {
            return Err(Failure::too_large(self.endpoint.name(), ANSWER));
        }
        if let Some(translated) = self.translated.clone() {
            return self.json_for_modern(source, translated).await;
        }
        let start = match length {
            Some(length) if length > WHOLE_ANSWER as u64 => {
                source.chunk().await.map(|chunk| (chunk.unwrap_or_default(), false))
            }
            _ => source.up_to(WHOLE_ANSWER).await,
        };
        let (start, complete) = self.hold.noted(start)?;
        if batch::is_batch(&start) {
            return Box::pin(self.batch(source, start)).await;
        }
        if complete {
            if start.is_empty() {
                return Err(Failure::broken(self.endpoint.name(), "answered with an empty body"));
            }
            self.check(&start)?;
            self.hold.done();
            return Ok(Answer::whole(start));
        }
        let rest = Rest { source, hold: self.hold, passed: 0, start: Some(start) };
        let chunks = stream::unfold(Some(rest), |rest| async move { rest?.next().await });
        Ok(Answer::streamed(Box::pin(chunks), length))
    }

    /// A batch is read to its end, and is as many messages.
    async fn batch(mut self, mut source: Source, start: Bytes) -> Result<Answer, Failure> {
        let rest = source.up_to(ANSWER).await;
        let (rest, complete) = self.hold.noted(rest)?;
        if !complete {
            return Err(Failure::too_large(self.endpoint.name(), ANSWER));
        }
        let text = if rest.is_empty() { start } else { [start, rest].concat().into() };
        let messages = batch::split(text);
        let events = Events::new(source, self.id, self.respondent)
            .translated(self.translated)
            .beginning_with(messages);
        begun(events, self.hold).await
    }

    /// Held back to its end, since members are to be added.
    async fn json_for_modern(
        mut self,
        mut source: Source,
        translated: Translated,
    ) -> Result<Answer, Failure> {
        let (text, complete) = source.up_to(ANSWER).await?;
        if !complete {
            return Err(Failure::too_large(self.endpoint.name(), ANSWER));
        }
        if text.is_empty() {
            return Err(Failure::broken(self.endpoint.name(), "answered with an empty body"));
        }
        if batch::is_batch(&text) {
            return Box::pin(self.batch(source, text)).await;
        }
        self.check(&text)?;
        self.hold.done();
        Ok(Answer::whole(translated.answer(text)))
    }

    /// Most servers that stream send nothing but the response: that is an answer like any other. A client hears at once
    /// of a stream that has something else to say, or nothing yet.
    async fn events(self, source: Source) -> Result<Answer, Failure> {
        let (pace, drainer) = (self.pace, self.drainer);
        let resume = self.session.map(|session| Resume::new(session, pace, drainer));
        let events = Events::new(source, self.id, self.respondent)
            .translated(self.translated)
            .resuming(resume);
        begun(events, self.hold).await
    }

    /// What is no success: an error of JSON-RPC is the answer, everything else a fault of the server.
    async fn error(
        mut self,
        status: StatusCode,
        mut source: Source,
        json: bool,
    ) -> Result<Outcome, Failure> {
        self.hold.done();
        let name = self.endpoint.name();
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                if status == StatusCode::UNAUTHORIZED {
                    self.endpoint.denied(&self.head.whose);
                }
                return Err(self.endpoint.refused(&self.head.whose).because(status));
            }
            StatusCode::TOO_MANY_REQUESTS => return Err(Failure::throttled(name)),
            // It may be this request alone: the keeper looks, and the session stays.
            _ if status.is_server_error() => self.endpoint.status.bell.server(),
            _ => {}
        }
        if status.is_client_error() && json {
            let (text, complete) = source.up_to(ERROR_BODY).await?;
            let message = complete.then(|| Message::parse(text).ok()).flatten();
            if let Some((message, error)) = message.as_ref().and_then(|m| Some((m, m.error()?))) {
                if status == StatusCode::BAD_REQUEST
                    && self.head.session.is_some()
                    && message.id().is_none()
                    && complains_about_session(error)
                {
                    // Many servers say 400 where the specification wants 404. No request was started.
                    self.endpoint.status.bell.session();
                    return Ok(Outcome::SessionGone);
                }
                let id = self.translated.as_ref().map_or(&self.id, |translated| &translated.id);
                let body = Body::Whole(authored::error_response(id.as_json(), error));
                let refusal = scan::member(error, "code")
                    .and_then(|span| error.get(span.range())?.parse().ok());
                return Ok(Outcome::Answer(Answer::Json(Json { body, refusal })));
            }
        }
        Err(Failure::broken(name, strange(status)).because(status))
    }
}

/// The answer of a stream, as far as it is there in a moment.
async fn begun(events: Events, mut hold: Hold) -> Result<Answer, Failure> {
    let mut first = next(events);
    let Ok((events, item)) = timeout(FIRST_EVENT, &mut first).await else {
        return Ok(Answer::Messages(messages(first, hold)));
    };
    match hold.noted(item)? {
        Some(Item::Response(text)) => {
            hold.done();
            Ok(Answer::whole(text))
        }
        item => Ok(Answer::Messages(messages(Box::pin(ready((events, Ok(item)))), hold))),
    }
}

/// What a status says that no MCP server gives to a request.
pub(super) fn strange(status: StatusCode) -> &'static str {
    match status.as_u16() {
        200 => "answered with a content type that is not MCP",
        201..300 => "accepted the request and gave no answer",
        300..400 => "redirects to another address, which plugway does not follow",
        400..500 => "refused the request without saying why",
        _ => "failed while it worked on the request",
    }
}

/// The rest of a JSON answer.
struct Rest {
    source: Source,
    hold: Hold,
    passed: usize,
    start: Option<Bytes>,
}

impl Rest {
    async fn next(mut self) -> Option<(Result<Bytes, Fault>, Option<Self>)> {
        let start = self.start.take().filter(|start| !start.is_empty());
        let chunk = match start {
            Some(start) => Ok(Some(start)),
            None => self.source.chunk().await,
        };
        match self.hold.noted(chunk) {
            Ok(None) => {
                self.hold.done();
                None
            }
            Ok(Some(chunk)) => {
                self.passed += chunk.len();
                if self.passed > ANSWER {
                    let failure = Failure::too_large(&self.source.name, ANSWER);
                    return Some((Err(failure.fault()), None));
                }
                Some((Ok(chunk), Some(self)))
            }
            Err(failure) => Some((Err(failure.fault()), None)),
        }
    }
}

/// The next item of a stream, and the stream.
type Next = Pin<Box<dyn Future<Output = (Events, Result<Option<Item>, Failure>)> + Send>>;

fn next(mut events: Events) -> Next {
    Box::pin(async move {
        let item = events.next().await;
        (events, item)
    })
}

fn messages(first: Next, hold: Hold) -> Messages {
    Box::pin(stream::unfold(Some((first, hold)), |state| async move {
        let (coming, mut hold) = state?;
        let (events, item) = coming.await;
        let item = match hold.noted(item) {
            Ok(item) => item?,
            Err(failure) => return Some((Err(failure.fault()), None)),
        };
        let message = match item {
            Item::Note(text) => {
                let upstream = Arc::clone(events.upstream());
                Incoming::Notification(Notification { upstream, text })
            }
            Item::Ask(ask) => Incoming::Ask(*ask),
            Item::Break(wait) => Incoming::Break(wait),
            Item::Response(text) => {
                hold.done();
                return Some((Ok(Incoming::Response(text)), None));
            }
        };
        Some((Ok(message), Some((next(events), hold))))
    }))
}
