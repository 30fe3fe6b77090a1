//! plugway's own event stream at a server, on which it says that its lists have changed: `GET` in plugway's session at a
//! legacy server, `subscriptions/listen` at a modern one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderValue, Request};
use http_body_util::Full;

use super::endpoint::Endpoint;
use super::request::{Head, get, post};
use super::respond::Respondent;
use super::session::Session;
use super::stream::Stream;
use crate::protocol::Kind;
use crate::upstream::authored::listen;
use crate::upstream::bell::is_list_change;
use crate::upstream::peek::Peek;

/// plugway's own stream.
pub(super) struct Own<'a> {
    pub(super) endpoint: &'a Arc<Endpoint>,
    /// Its session; none at a modern server.
    pub(super) session: Option<Arc<Session>>,
    /// Where the ids of its requests come from.
    pub(super) ids: &'a AtomicU64,
}

impl Own<'_> {
    fn head(&self) -> Head {
        match &self.session {
            Some(session) => session.head(),
            None => Head::modern_method("subscriptions/listen"),
        }
    }
}

impl Stream for Own<'_> {
    fn request(&self, after: Option<HeaderValue>) -> Option<Request<Full<Bytes>>> {
        if self.session.is_some() {
            return Some(get(self.endpoint, self.head(), after));
        }
        let text = listen(self.ids.fetch_add(1, Ordering::Relaxed));
        Some(post(self.endpoint, self.head(), text))
    }

    fn message(&self, text: Bytes) {
        let Ok(peek) = Peek::read(&text) else { return };
        match peek.kind() {
            Some(Kind::Notification) if is_list_change(peek.method()) => {
                self.endpoint.status.bell.changed();
            }
            // Nobody stands behind it who could be asked.
            Some(Kind::Request) => {
                drop(Respondent::plugway(self.endpoint, self.head()).take(&text));
            }
            // Log messages and the like are for nobody; the response ends a subscription, and the stream with it.
            _ => {}
        }
    }
}
