//! Messages out of a server's event stream: up to the response that the request waits for, and nothing else.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;

use super::body::Source;
use super::endpoint::Endpoint;
use super::request::{Head, post};
use super::translated::Translated;
use crate::protocol::{Id, Kind, sse};
use crate::upstream::authored;
use crate::upstream::bell::is_list_change;
use crate::upstream::failure::Failure;
use crate::upstream::limits::{EVENT, GOODBYE};
use crate::upstream::peek::Peek;

/// One message of the stream.
#[derive(Debug)]
pub(super) enum Item {
    /// A notification that belongs to the request.
    Note(Bytes),
    /// The response: the last message.
    Response(Bytes),
}

/// A stream that answers one request. Event ids and retry hints end here: a client cannot resume at the server.
pub(super) struct Events {
    source: Source,
    reader: sse::Reader,
    id: Id,
    endpoint: Arc<Endpoint>,
    /// Session and revision, for answers to requests of the server.
    head: Head,
    translated: Option<Translated>,
    done: bool,
}

impl Events {
    pub(super) fn new(source: Source, id: Id, endpoint: Arc<Endpoint>, head: Head) -> Self {
        let source = source.without_stall();
        let (reader, translated) = (sse::Reader::new(EVENT), None);
        Self { source, reader, id, endpoint, head, translated, done: false }
    }

    /// The response gets what a modern client requires that asked for this.
    pub(super) fn translated(self, translated: Option<Translated>) -> Self {
        Self { translated, ..self }
    }

    /// Name of the server that sends them.
    pub(super) fn upstream(&self) -> &Arc<str> {
        self.endpoint.status.name()
    }

    /// The next message; none after the response.
    pub(super) async fn next(&mut self) -> Result<Option<Item>, Failure> {
        while !self.done {
            let event = self.reader.next_event();
            let event = event
                .map_err(|error| Failure::too_large(&self.source.name, EVENT).because(error))?;
            if let Some(event) = event {
                if event.is_message()
                    && let Some(item) = self.message(event.data)?
                {
                    return Ok(Some(item));
                }
                continue;
            }
            let Some(chunk) = self.source.chunk().await? else {
                let what = "ended its stream without an answer";
                return Err(Failure::broken(&self.source.name, what));
            };
            self.reader.push(&chunk);
        }
        Ok(None)
    }

    fn message(&mut self, data: Bytes) -> Result<Option<Item>, Failure> {
        let peek = Peek::read(&data).map_err(|error| {
            Failure::broken(&self.source.name, "sent an event that is not JSON").because(error)
        })?;
        match peek.kind() {
            // Clients hear of it from plugway itself, once the merged list really differs.
            Some(Kind::Notification) if is_list_change(peek.method()) => {
                self.endpoint.status.bell.changed();
                Ok(None)
            }
            Some(Kind::Notification) => Ok(Some(Item::Note(data))),
            Some(Kind::Response) if peek.answers(&self.id) => {
                self.done = true;
                self.source.finish(&self.endpoint.drainer);
                Ok(Some(Item::Response(match &self.translated {
                    Some(translated) => translated.answer(data),
                    None => data,
                })))
            }
            Some(Kind::Request) => {
                let (method, id) = (peek.method(), peek.id().unwrap_or("null"));
                tracing::debug!(
                    upstream = self.endpoint.name(),
                    method,
                    "refused a server's request"
                );
                self.refuse(authored::reply(id, method));
                Ok(None)
            }
            Some(Kind::Response) | None => {
                tracing::debug!(upstream = self.endpoint.name(), "dropped a message for nobody");
                Ok(None)
            }
        }
    }

    fn refuse(&self, reply: Bytes) {
        respond(&self.endpoint, self.head.clone(), reply);
    }
}

/// Sends plugway's answer to a request of the server, in the background.
pub(super) fn respond(endpoint: &Endpoint, head: Head, reply: Bytes) {
    let sent = endpoint.send(post(endpoint, head, reply));
    endpoint.drainer.run(async move { drop(sent.await) }, GOODBYE);
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
