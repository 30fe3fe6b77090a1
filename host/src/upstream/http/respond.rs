//! What a server gets for requests of its own: an answer of plugway's at once, or the client's when that is there.

use std::sync::{Arc, Weak};

use bytes::Bytes;

use super::endpoint::Endpoint;
use super::request::{Head, post};
use super::session::Session;
use crate::outbound::chain;
use crate::pipeline::port::{Ask, AskReply};
use crate::protocol::Message;
use crate::upstream::limits::REPLY;
use crate::upstream::permission::Permission;

/// Answers the requests of one stream.
#[derive(Clone)]
pub(super) struct Respondent {
    pub(super) endpoint: Arc<Endpoint>,
    back: Back,
    permission: Permission,
}

/// The headers of an answer.
#[derive(Clone)]
enum Back {
    Plain(Box<Head>),
    /// Those of the session, with the newest credential of the caller. The server of a session that is gone waits for
    /// nothing.
    Session(Weak<Session>),
}

impl Respondent {
    /// On a stream that belongs to no client: nothing is asked of anybody.
    pub(super) fn plugway(endpoint: &Arc<Endpoint>, head: Head) -> Self {
        let permission = Permission::nothing(endpoint.status.name());
        Self { endpoint: Arc::clone(endpoint), back: Back::Plain(Box::new(head)), permission }
    }

    /// In a session of a client, of whom this may be asked.
    pub(super) fn client(
        endpoint: &Arc<Endpoint>,
        session: Weak<Session>,
        permission: Permission,
    ) -> Self {
        Self { endpoint: Arc::clone(endpoint), back: Back::Session(session), permission }
    }

    /// Takes a request of the server; gives what the client is to be asked, if it is.
    pub(super) fn take(&self, request: &Bytes) -> Option<Ask> {
        let message = match self.permission.prepare(request) {
            Ok(message) => message,
            Err(response) => {
                self.send(response);
                return None;
            }
        };
        let id = message.id()?.clone();
        let (upstream, back) = (Arc::clone(self.permission.upstream()), self.clone());
        let take = move |response: Message| back.send(response.text().clone());
        Some(Ask { upstream, message, reply: AskReply::new(id, take) })
    }

    fn head(&self) -> Option<Head> {
        match &self.back {
            Back::Plain(head) => Some(Head::clone(head)),
            Back::Session(session) => session.upgrade().map(|session| session.head()),
        }
    }

    /// Sends an answer in the background.
    fn send(&self, text: Bytes) {
        let Some(head) = self.head() else { return };
        let sent = self.endpoint.send(post(&self.endpoint, head, text));
        let name = Arc::clone(self.endpoint.status.name());
        let task = async move {
            let why = match sent.await {
                Ok(response) if response.status().is_success() => return,
                Ok(response) => response.status().to_string(),
                Err(error) => chain(&error),
            };
            tracing::warn!(upstream = &*name, why, "an answer to the server's request was lost");
        };
        self.endpoint.replies.run(task, REPLY);
    }
}
