//! HTTP+SSE, the transport of 2024-11-05: a stream for everything that the server says, whose first event names the address
//! to post to.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::uri::PathAndQuery;
use http::{StatusCode, Uri};
use tokio::time::timeout;

use super::answer::strange;
use super::body::{Pace, Source};
use super::endpoint::Endpoint;
use super::events::is_events;
use super::request::{Head, Whose, get, post};
use crate::protocol::sse;
use crate::upstream::failure::Failure;
use crate::upstream::limits::EVENT;

/// What a server says, message by message.
pub(in crate::upstream) struct Channel {
    endpoint: Arc<Endpoint>,
    source: Source,
    reader: sse::Reader,
    messages: Uri,
}

/// The way of messages to the server.
#[derive(Clone)]
pub(in crate::upstream) struct Poster {
    endpoint: Arc<Endpoint>,
    messages: Uri,
}

impl Channel {
    /// Opens the stream, and waits for the address.
    pub(in crate::upstream) async fn open(endpoint: &Arc<Endpoint>) -> Result<Self, Failure> {
        let limit = endpoint.limits.open;
        timeout(limit, Self::opened(endpoint))
            .await
            .unwrap_or_else(|_elapsed| Err(Failure::timeout(endpoint.name(), limit)))
    }

    async fn opened(endpoint: &Arc<Endpoint>) -> Result<Self, Failure> {
        let sent = endpoint.send(get(endpoint, Head::default(), None)).await;
        let response = sent.map_err(|error| endpoint.failure(&error))?;
        let status = response.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(endpoint.refused(&Whose::Own).because(status));
        }
        let kind = response.headers().get(CONTENT_TYPE);
        if !status.is_success() || !is_events(kind) {
            let what =
                if status.is_success() { "opens no stream of HTTP+SSE" } else { strange(status) };
            return Err(Failure::broken(endpoint.name(), what).because(status));
        }
        let pace = Pace { deadline: None, call: Duration::MAX, stall: None };
        let name = Arc::clone(endpoint.status.name());
        let source = Source::new(response.into_body(), name, pace, None);
        let (reader, messages) = (sse::Reader::new(EVENT), endpoint.uri.clone());
        let mut channel = Self { endpoint: Arc::clone(endpoint), source, reader, messages };
        channel.messages = channel.named().await?;
        Ok(channel)
    }

    /// The address that the first event names. It must be of the same origin: nothing that is meant for this server, a
    /// credential among it, goes elsewhere because the server says so.
    async fn named(&mut self) -> Result<Uri, Failure> {
        let name = Arc::clone(&self.source.name);
        while let Some(event) = self.event().await? {
            if event.event.as_deref() != Some("endpoint") {
                continue;
            }
            let data = String::from_utf8_lossy(&event.data);
            return resolve(&self.endpoint.uri, data.trim()).ok_or_else(|| {
                let what = "wants messages to be posted to another origin than its own";
                Failure::broken(&name, what).because(data)
            });
        }
        Err(Failure::broken(&name, "ended its stream before it named an address to post to"))
    }

    /// The next message; none at the end of the stream.
    pub(in crate::upstream) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(event) = self.event().await? {
            if event.is_message() {
                return Ok(Some(event.data));
            }
        }
        Ok(None)
    }

    async fn event(&mut self) -> Result<Option<sse::Event>, Failure> {
        loop {
            let event = self.reader.next_event();
            let event = event
                .map_err(|error| Failure::too_large(&self.source.name, EVENT).because(error))?;
            if event.is_some() {
                return Ok(event);
            }
            let Some(chunk) = self.source.chunk().await? else { return Ok(None) };
            self.reader.push(&chunk);
        }
    }

    /// The way of messages to the server.
    pub(in crate::upstream) fn poster(&self) -> Poster {
        Poster { endpoint: Arc::clone(&self.endpoint), messages: self.messages.clone() }
    }
}

impl Poster {
    /// Posts a message. What comes of it is said on the stream; an error means that the server did not take it.
    pub(in crate::upstream) async fn post(self, text: Bytes) -> Result<(), Failure> {
        let endpoint = &self.endpoint;
        let mut request = post(endpoint, Head::default(), text);
        *request.uri_mut() = self.messages;
        let sent = endpoint.send(request).await;
        let response = sent.map_err(|error| endpoint.failure(&error))?;
        let status = response.status();
        let pace = Pace { deadline: None, call: Duration::MAX, stall: None };
        let name = Arc::clone(endpoint.status.name());
        Source::new(response.into_body(), name, pace, None).finish(&endpoint.drainer);
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(endpoint.refused(&Whose::Own).because(status))
            }
            status if status.is_success() => Ok(()),
            status => Err(Failure::broken(endpoint.name(), strange(status)).because(status)),
        }
    }
}

/// What a reference means at a base (RFC 3986, section 5), if that is of the same origin. Dots in paths are left to the
/// server.
fn resolve(base: &Uri, reference: &str) -> Option<Uri> {
    if reference.contains("://") {
        let named: Uri = reference.parse().ok()?;
        let same = named.scheme() == base.scheme() && named.authority() == base.authority();
        return same.then_some(named);
    }
    let path = match reference.strip_prefix('/') {
        Some(rest) if rest.starts_with('/') => return None,
        Some(_) => reference.to_owned(),
        None => {
            let (folder, _) = base.path().rsplit_once('/')?;
            format!("{folder}/{reference}")
        }
    };
    let mut parts = base.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_same_origin_is_taken_however_it_is_written() {
        let base = "http://h:1/a/sse?k=v".parse().unwrap();
        let at = |reference| resolve(&base, reference).map(|uri| uri.to_string());
        for (reference, want) in [
            ("/messages?sessionId=1", "http://h:1/messages?sessionId=1"),
            ("messages/?s=1", "http://h:1/a/messages/?s=1"),
            ("http://h:1/m", "http://h:1/m"),
        ] {
            assert_eq!(at(reference).as_deref(), Some(want), "{reference}");
        }
        let others = [
            "https://h:1/m",
            "http://h/m",
            "http://g:1/m",
            "//g/m",
            "http://h:1@g/m",
            "/a b",
            "://",
        ];
        for reference in others {
            assert_eq!(at(reference), None, "{reference}");
        }
    }
}
