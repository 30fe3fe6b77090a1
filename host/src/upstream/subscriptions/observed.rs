//! Looks at the response of an answer on its way to the client.

use futures_util::StreamExt as _;

use crate::pipeline::port::{Answer, Body, Incoming, Json};
use crate::protocol::Message;

/// Calls `then` once the response turns out to be a result. One that is too large to be held in one piece is not looked into.
pub(super) fn on_result(answer: Answer, then: impl FnOnce() + Send + 'static) -> Answer {
    match answer {
        Answer::Json(Json { body: Body::Whole(text), refusal }) => {
            if is_result(&text) {
                then();
            }
            Answer::Json(Json { body: Body::Whole(text), refusal })
        }
        Answer::Json(streamed) => Answer::Json(streamed),
        Answer::Messages(messages) => {
            let mut then = Some(then);
            Answer::messages(messages.inspect(move |message| {
                if let Ok(Incoming::Response(text)) = message
                    && is_result(text)
                    && let Some(then) = then.take()
                {
                    then();
                }
            }))
        }
    }
}

/// Whether a response is a result.
pub(super) fn is_result(text: &bytes::Bytes) -> bool {
    Message::parse(text.clone()).is_ok_and(|message| message.result().is_some())
}
