//! After a call: the router learns what the server invented, before the client can use it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use super::call::CallContext;
use super::collect::{self, Held};
use super::exchange::{Call, Destination};
use super::port::{Answer, Body, Incoming, Json, Router, Upstream};
use super::review;
use crate::fault::Fault;
use crate::protocol::{Message, Method};

/// Bytes of an answer that the router learns from: ids stand at its end.
const LEARN_MAX: usize = 2 * 1024 * 1024;
/// How long an answer waits for the router, with all its waiting for an instance.
const LEARN_WAIT: Duration = Duration::from_secs(2);

/// A call that the router learns from: of a server whose calls it judges. None for all others, which pay a look at their name.
pub(super) fn lesson(
    call: &Call<'_>,
    upstream: &Arc<dyn Upstream>,
    to: &Destination,
) -> Option<Lesson> {
    if call.unguarded || call.request.message.method() != Method::ToolsCall {
        return None;
    }
    // A tool of the same name elsewhere means something else, and would give away ids that it never invented.
    if !call.view.catalogue().guards(to.upstream) {
        return None;
    }
    let own = to.name.as_ref().unwrap_or(&call.name);
    let router = &call.connector.router;
    if !router.learns(own) {
        return None;
    }
    let mut context = call.context();
    context.target = Some((upstream.name().clone(), own.clone()));
    Some(Lesson { router: router.clone(), context: Arc::new(context) })
}

/// What the router is going to be asked.
pub(super) struct Lesson {
    router: Arc<dyn Router>,
    context: Arc<CallContext>,
}

impl Lesson {
    /// The answer, whose response goes on once the router has seen it. What comes before it passes as it comes.
    pub(super) async fn of(self, answer: Answer) -> Result<Answer, Fault> {
        match answer {
            Answer::Json(Json { body, refusal }) => {
                let body = match collect::hold(body, LEARN_MAX).await? {
                    Held::Whole(text) => {
                        self.learn(&text).await;
                        Body::Whole(text)
                    }
                    Held::Large(body) => {
                        self.too_large();
                        body
                    }
                };
                Ok(Answer::Json(Json { body, refusal }))
            }
            Answer::Messages(messages) => {
                let own = Arc::new(self);
                Ok(Answer::messages(messages.then(move |message| {
                    let own = own.clone();
                    async move {
                        match &message {
                            Ok(Incoming::Response(text)) if text.len() <= LEARN_MAX => {
                                own.learn(text).await;
                            }
                            Ok(Incoming::Response(_)) => own.too_large(),
                            _ => {}
                        }
                        message
                    }
                })))
            }
        }
    }

    /// The answer goes on whatever becomes of this; a failure was logged where it happened.
    async fn learn(&self, text: &Bytes) {
        let Ok(message) = Message::parse(text.clone()) else { return };
        let outcome = review::outcome(&message);
        let learning = self.router.learn(self.context.clone(), outcome);
        if timeout(LEARN_WAIT, learning).await.is_err() {
            self.warn("the router took too long to learn from an answer");
        }
    }

    fn too_large(&self) {
        self.warn(
            "an answer is too large for the router to learn from: what it names stays unknown",
        );
    }

    fn warn(&self, what: &str) {
        let upstream = self.context.target.as_ref().map(|(upstream, _)| &**upstream);
        tracing::warn!(
            request_id = &*self.context.request_id,
            connector = &*self.context.connector,
            plugin = self.router.name(),
            upstream,
            "{what}"
        );
    }
}
