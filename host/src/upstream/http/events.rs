//! Messages out of a server's event stream: up to the response that the request waits for, and nothing else.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;

use super::body::Source;
use super::respond::Respondent;
use super::resume::{Hints, Resume};
use super::translated::Translated;
use crate::pipeline::port::Ask;
use crate::protocol::{Id, Kind, sse};
use crate::upstream::batch;
use crate::upstream::bell::is_list_change;
use crate::upstream::failure::Failure;
use crate::upstream::limits::EVENT;
use crate::upstream::peek::Peek;

/// One message of the stream.
#[derive(Debug)]
pub(super) enum Item {
    /// A notification that belongs to the request.
    Note(Bytes),
    /// A request of the server for the client.
    Ask(Box<Ask>),
    /// The response: the last message.
    Response(Bytes),
    /// The server ended its stream, and goes on when it is asked again after this time.
    Break(Duration),
}

/// A stream that answers one request. Event ids and retry hints end here: they are between plugway and the server.
pub(super) struct Events {
    source: Source,
    reader: sse::Reader,
    id: Id,
    respondent: Respondent,
    translated: Option<Translated>,
    hints: Hints,
    /// The rest of a batch.
    batch: VecDeque<Bytes>,
    resume: Option<Resume>,
    /// Whether the end of the stream was noticed.
    polled: bool,
    done: bool,
}

impl Events {
    /// `respondent` answers what the server asks on the way.
    pub(super) fn new(source: Source, id: Id, respondent: Respondent) -> Self {
        Self {
            source: source.without_stall(),
            reader: sse::Reader::new(EVENT),
            id,
            respondent,
            translated: None,
            hints: Hints::default(),
            batch: VecDeque::new(),
            resume: None,
            polled: false,
            done: false,
        }
    }

    /// The response gets what a modern client requires that asked for this.
    pub(super) fn translated(self, translated: Option<Translated>) -> Self {
        Self { translated, ..self }
    }

    /// These messages come first.
    pub(super) fn beginning_with(self, messages: impl Iterator<Item = Bytes>) -> Self {
        Self { batch: messages.collect(), ..self }
    }

    /// A stream that ends too early is asked for again.
    pub(super) fn resuming(self, resume: Option<Resume>) -> Self {
        Self { resume, ..self }
    }

    /// Name of the server that sends them.
    pub(super) fn upstream(&self) -> &Arc<str> {
        self.respondent.endpoint.status.name()
    }

    /// The next message; none after the response.
    pub(super) async fn next(&mut self) -> Result<Option<Item>, Failure> {
        while !self.done {
            if let Some(message) = self.batch.pop_front() {
                if let Some(item) = self.message(message)? {
                    return Ok(Some(item));
                }
                continue;
            }
            let event = self.reader.next_event();
            let event = event
                .map_err(|error| Failure::too_large(&self.source.name, EVENT).because(error))?;
            if let Some(event) = event {
                self.hints.note(&event);
                if let Some(resume) = &mut self.resume {
                    resume.gained();
                }
                if event.is_message() && batch::is_batch(&event.data) {
                    self.batch = batch::split(event.data).collect();
                } else if event.is_message()
                    && let Some(item) = self.message(event.data)?
                {
                    return Ok(Some(item));
                }
                continue;
            }
            match self.source.chunk().await {
                Ok(Some(chunk)) => self.reader.push(&chunk),
                Ok(None) if self.polled => {
                    let what = "ended its stream without an answer";
                    self.again(Failure::broken(&self.source.name, what)).await?;
                }
                // Said before it is asked again: the client may go away meanwhile, as it would without plugway.
                Ok(None) => {
                    self.polled = true;
                    if let Some(wait) = self.resume.as_ref().and_then(|_| self.hints.polling()) {
                        return Ok(Some(Item::Break(wait)));
                    }
                }
                Err(failure) if failure.is_timeout() => return Err(failure),
                Err(failure) => self.again(failure).await?,
            }
        }
        Ok(None)
    }

    /// A server may end a stream to be asked for the rest later, and a stream may break: both go on where the last event
    /// was, if the server names its events.
    async fn again(&mut self, failure: Failure) -> Result<(), Failure> {
        let Some(resume) = &mut self.resume else { return Err(failure) };
        if let Some(rest) = resume.again(&self.respondent.endpoint, &self.hints, failure).await? {
            self.source = rest;
            self.polled = false;
            self.reader = sse::Reader::new(EVENT);
        }
        Ok(())
    }

    fn message(&mut self, data: Bytes) -> Result<Option<Item>, Failure> {
        let peek = Peek::read(&data).map_err(|error| {
            Failure::broken(&self.source.name, "sent an event that is no message").because(error)
        })?;
        let endpoint = &self.respondent.endpoint;
        match peek.kind() {
            // Clients hear of it from plugway itself, once the merged list really differs.
            Some(Kind::Notification) if is_list_change(peek.method()) => {
                endpoint.status.bell.changed();
                Ok(None)
            }
            Some(Kind::Notification) => Ok(Some(Item::Note(data))),
            Some(Kind::Response) if peek.answers(&self.id) => {
                self.done = true;
                self.source.finish(&endpoint.drainer);
                Ok(Some(Item::Response(match &self.translated {
                    Some(translated) => translated.answer(data),
                    None => data,
                })))
            }
            Some(Kind::Request) => Ok(self.respondent.take(&data).map(Box::new).map(Item::Ask)),
            Some(Kind::Response) | None => {
                tracing::debug!(upstream = endpoint.name(), "dropped a message for nobody");
                Ok(None)
            }
        }
    }
}

/// The header of a stream's content type.
pub(super) fn is_events(content_type: Option<&HeaderValue>) -> bool {
    is(content_type, "text/event-stream")
}

/// The header of one JSON document.
pub(super) fn is_json(content_type: Option<&HeaderValue>) -> bool {
    is(content_type, "application/json")
}

fn is(content_type: Option<&HeaderValue>, wanted: &str) -> bool {
    content_type.and_then(|value| value.to_str().ok()).is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case(wanted)
    })
}
