//! plugway's own short question to a server: opening a session, probing, reading lists.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::body::{Pace, Sent, Source};
use super::endpoint::Endpoint;
use super::events::{Events, Item, is_events, is_json};
use super::request::{Head, Whose, post};
use super::respond::Respondent;
use crate::protocol::{Id, Message, header, scan};
use crate::upstream::catalogue::is_unknown_method;
use crate::upstream::failure::Failure;
use crate::upstream::limits::{ANSWER, PAGE};

/// What a server answered.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    /// The session that the server opened.
    pub(super) session: Option<HeaderValue>,
    /// The JSON-RPC response, if there is one.
    pub(super) message: Option<Message>,
    /// Why what came instead of one cannot be used.
    pub(super) unusable: Option<String>,
    whose: Whose,
}

/// Asks and reads the answer to its end. `id` is the id of the request in `text`; a notification has none.
pub(super) async fn ask(
    endpoint: &Arc<Endpoint>,
    head: Head,
    text: Bytes,
    id: Option<u64>,
) -> Result<Reply, Failure> {
    let whose = head.whose.clone();
    let limit = if id.is_some() { PAGE } else { endpoint.limits.open };
    let deadline = Instant::now() + limit;
    let sent = Sent::new(endpoint.send(post(endpoint, head.clone(), text)), None);
    let response = match timeout_at(deadline, sent).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(endpoint.failure(&error)),
        Err(_elapsed) => return Err(Failure::timeout(endpoint.name(), limit)),
    };
    let (parts, body) = response.into_parts();
    let pace = Pace { deadline: Some(deadline), call: limit, stall: None };
    let mut source = Source::new(body, Arc::clone(endpoint.status.name()), pace, None);
    let kind = parts.headers.get(CONTENT_TYPE);
    let message = if is_json(kind) {
        match source.up_to(ANSWER).await? {
            (text, true) => Some(parsed(text)),
            (_, false) => Some(Err(format!("it is larger than {ANSWER} bytes"))),
        }
    } else if let (true, Some(id)) = (is_events(kind), id) {
        let respondent = Respondent::plugway(endpoint, head);
        response_of(Events::new(source, Id::number(id), respondent)).await?
    } else {
        source.finish(&endpoint.drainer);
        None
    };
    let session = parts.headers.get(header::SESSION_ID).cloned();
    let (message, unusable) = match message {
        None => (None, None),
        Some(Ok(message)) => (Some(message), None),
        Some(Err(why)) => (None, Some(why)),
    };
    Ok(Reply { status: parts.status, session, message, unusable, whose })
}

fn parsed(text: Bytes) -> Result<Message, String> {
    Message::parse(text).map_err(|error| error.to_string())
}

async fn response_of(mut events: Events) -> Result<Option<Result<Message, String>>, Failure> {
    loop {
        match events.next().await? {
            Some(Item::Note(_) | Item::Ask(_) | Item::Break(_)) => {}
            Some(Item::Response(data)) => return Ok(Some(parsed(data))),
            None => return Ok(None),
        }
    }
}

impl Reply {
    /// The failure that a status means in itself, whatever was asked.
    pub(super) fn check(&self, endpoint: &Endpoint) -> Result<(), Failure> {
        if self.status == StatusCode::UNAUTHORIZED {
            endpoint.denied(&self.whose);
        }
        match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(endpoint.refused(&self.whose).because(self.status))
            }
            StatusCode::TOO_MANY_REQUESTS => Err(Failure::throttled(endpoint.name())),
            _ => Ok(()),
        }
    }

    /// Whether this says that the session is not known: 404 in a session means that (2025-11-25, "Session Management"),
    /// unless the body says that it is the method that does not exist. Other servers say 400 and complain about the
    /// session, to no request in particular.
    pub(super) fn denies_session(&self) -> bool {
        let error = self.message.as_ref().and_then(Message::error);
        let complains = error.is_some_and(complains_about_session);
        match self.status {
            StatusCode::NOT_FOUND => complains || !error.is_some_and(is_unknown_method),
            StatusCode::BAD_REQUEST => {
                complains && self.message.as_ref().is_some_and(|message| message.id().is_none())
            }
            _ => false,
        }
    }
}

/// Whether an error is about a session. `error` is JSON text.
pub(super) fn complains_about_session(error: &str) -> bool {
    let message = scan::member(error, "message").and_then(|span| error.get(span.range()));
    message.is_some_and(|message| message.to_ascii_lowercase().contains("session"))
}
