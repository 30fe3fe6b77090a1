//! plugway's own question that takes no parameters but a cursor, in either era.

use std::sync::Arc;

use super::ask::ask;
use super::endpoint::Endpoint;
use super::request::{Head, Whose};
use super::session::Session;
use crate::protocol::{Id, Message};
use crate::upstream::authored::{Hello, legacy_request, modern_request};
use crate::upstream::failure::Failure;

/// One question.
pub(super) struct Question<'a> {
    pub(super) method: &'a str,
    /// JSON text.
    pub(super) cursor: Option<&'a str>,
    pub(super) id: u64,
    /// Whose credential goes along where there is no session.
    pub(super) whose: Whose,
}

impl Question<'_> {
    /// Asks it in a session, or without one as whom `hello` names. None says that the server does not know the session any
    /// more.
    pub(super) async fn ask(
        self,
        endpoint: &Arc<Endpoint>,
        session: Option<&Session>,
        hello: &Hello,
    ) -> Result<Option<Message>, Failure> {
        let Self { method, cursor, id, whose } = self;
        let (head, text) = match session {
            Some(session) => (session.head(), legacy_request(id, method, cursor)),
            None => (
                Head { whose, ..Head::modern_method(method) },
                modern_request(hello, id, method, cursor),
            ),
        };
        let reply = ask(endpoint, head, text, Some(id)).await?;
        reply.check(endpoint)?;
        let status = reply.status;
        if session.is_some() && reply.denies_session() {
            return Ok(None);
        }
        let usable = status.is_success() || status.is_client_error();
        let Some(answer) = reply.message.filter(|_| usable) else {
            let what = "does not answer plugway's own questions";
            let cause = match &reply.unusable {
                None => status.to_string(),
                Some(why) => format!("{status}, and {why}"),
            };
            return Err(Failure::broken(endpoint.name(), what).because(cause));
        };
        // Whoever answers this with another id answers every call so. Errors may have none.
        if answer.result().is_some() && answer.id() != Some(&Id::number(id)) {
            let what = "answers something else than is asked";
            return Err(Failure::broken(endpoint.name(), what));
        }
        Ok(Some(answer))
    }
}
