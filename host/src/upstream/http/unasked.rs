//! What a server tells a party outside of its calls: the event stream of the party's session (`GET`).

use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{HeaderValue, Request};
use http_body_util::Full;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::endpoint::Endpoint;
use super::request::get;
use super::respond::Respondent;
use super::session::Session;
use super::stream::{Stream, follow};
use crate::pipeline::party::Party;
use crate::pipeline::port::{Incoming, Notification};
use crate::protocol::Kind;
use crate::upstream::bell::is_list_change;
use crate::upstream::limits::FIRST_EVENT;
use crate::upstream::peek::Peek;
use crate::upstream::permission::Permission;

/// The stream of one party.
struct Unasked {
    endpoint: Arc<Endpoint>,
    session: Weak<Session>,
    party: Arc<Party>,
    respondent: Respondent,
    /// Dropped when the server has answered the first request for the stream.
    opening: Mutex<Option<oneshot::Sender<()>>>,
}

/// Follows the stream from the moment on in which the client listens, until the session ended. `opening` is dropped as soon
/// as the stream is open, or will not be.
pub(super) async fn hear(
    endpoint: Arc<Endpoint>,
    session: Weak<Session>,
    party: Arc<Party>,
    (ended, opening): (CancellationToken, oneshot::Sender<()>),
) {
    let opening = Mutex::new(Some(opening));
    let permission = Permission::of(endpoint.status.name(), endpoint.asks, &party);
    let respondent = Respondent::client(&endpoint, session.clone(), permission);
    let stream = Unasked { endpoint: Arc::clone(&endpoint), session, party, respondent, opening };
    let heard = async {
        stream.party.outbox.listened().await;
        follow(&endpoint, &stream).await;
    };
    ended.run_until_cancelled(heard).await;
}

/// Waits a moment for the stream of a session whose client listens: many servers say there what belongs to the first call.
pub(super) async fn heard(party: &Party, opening: oneshot::Receiver<()>) {
    if party.outbox.listened().now_or_never().is_some() {
        drop(timeout(FIRST_EVENT, opening).await);
    }
}

impl Stream for Unasked {
    fn request(&self, after: Option<HeaderValue>) -> Option<Request<Full<Bytes>>> {
        self.session.upgrade().map(|session| get(&self.endpoint, session.head(), after))
    }

    fn answered(&self) {
        drop(self.opening.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn message(&self, text: Bytes) {
        let Ok(peek) = Peek::read(&text) else { return };
        let message = match peek.kind() {
            // Clients hear of it from plugway itself, once the merged list really differs.
            Some(Kind::Notification) if is_list_change(peek.method()) => {
                return self.endpoint.status.bell.changed();
            }
            Some(Kind::Notification) => {
                let upstream = Arc::clone(self.endpoint.status.name());
                Some(Incoming::Notification(Notification { upstream, text }))
            }
            Some(Kind::Request) => self.respondent.take(&text).map(Incoming::Ask),
            // A response belongs on the stream of its call, and nowhere else.
            Some(Kind::Response) | None => None,
        };
        if let Some(message) = message
            && !self.party.outbox.forward(message)
        {
            tracing::debug!(upstream = self.endpoint.name(), "no room for a message to the client");
        }
    }
}
