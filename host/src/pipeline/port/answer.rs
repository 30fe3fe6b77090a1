//! What comes back from an upstream: the answer to a request, and what the server says before it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{StreamExt as _, stream};

use crate::fault::Fault;
use crate::protocol::{Id, Message};

/// A body as it arrives.
pub type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, Fault>> + Send>>;

/// What a server sends while it answers, one message after the other; the response comes last.
pub type Messages = Pin<Box<dyn Stream<Item = Result<Incoming, Fault>> + Send>>;

/// The bytes of an answer.
pub enum Body {
    /// All of them.
    Whole(Bytes),
    /// As they arrive, and how many there will be where that is known.
    Stream(Chunks, Option<u64>),
}

/// What an upstream answers. Dropping it before its end tells a modern upstream that the call is cancelled.
pub enum Answer {
    /// One JSON-RPC response with the id of the request, errors of the server included.
    Json(Json),
    /// Messages of the server, the response last.
    Messages(Messages),
}

/// One JSON-RPC response.
#[derive(Debug)]
pub struct Json {
    /// Its text.
    pub body: Body,
    /// The code of the error that it is, where the server refused the request by its HTTP status, too.
    pub refusal: Option<i64>,
}

impl Answer {
    /// A response that is there.
    pub fn whole(text: Bytes) -> Self {
        Self::Json(Json { body: Body::Whole(text), refusal: None })
    }

    /// A response that is arriving, and its length where that is known.
    pub fn streamed(chunks: Chunks, length: Option<u64>) -> Self {
        Self::Json(Json { body: Body::Stream(chunks, length), refusal: None })
    }

    /// These messages.
    pub fn messages(
        messages: impl Stream<Item = Result<Incoming, Fault>> + Send + 'static,
    ) -> Self {
        Self::Messages(Box::pin(messages))
    }

    /// The code of the error with which the server refused the request by its HTTP status, too.
    pub fn refusal(&self) -> Option<i64> {
        match self {
            Self::Json(Json { refusal, .. }) => *refusal,
            Self::Messages(_) => None,
        }
    }

    /// Keeps something until the answer was sent.
    #[must_use]
    pub fn holding(self, guard: impl Send + 'static) -> Self {
        match self {
            Self::Json(Json { body, refusal }) => {
                Self::Json(Json { body: body.holding(guard), refusal })
            }
            Self::Messages(messages) => {
                Self::Messages(Box::pin(messages.inspect(move |_| _ = &guard)))
            }
        }
    }
}

impl Body {
    /// Keeps something until the body was sent.
    #[must_use]
    pub fn holding(self, guard: impl Send + 'static) -> Self {
        match self {
            Self::Whole(bytes) => Self::Whole(bytes),
            Self::Stream(chunks, length) => {
                Self::Stream(Box::pin(chunks.inspect(move |_| _ = &guard)), length)
            }
        }
    }
}

impl From<Body> for Chunks {
    fn from(body: Body) -> Self {
        match body {
            Body::Whole(bytes) => Box::pin(stream::iter([Ok(bytes)])),
            Body::Stream(chunks, _) => chunks,
        }
    }
}

/// One message of a server on its way to a client.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "requests are rare, and none is kept for long")]
pub enum Incoming {
    /// A notification.
    Notification(Notification),
    /// A request, which the client is to answer.
    Ask(Ask),
    /// The response to the client's request.
    Response(Bytes),
    /// The server ended its stream for now: the rest follows once it is asked again, after this time (SEP-1699).
    Break(Duration),
}

/// A notification of a server.
#[derive(Clone, Debug)]
pub struct Notification {
    /// Name of the upstream.
    pub upstream: Arc<str>,
    /// The JSON-RPC message.
    pub text: Bytes,
}

/// A request of a server to a client: elicitation, sampling, roots.
#[derive(Debug)]
pub struct Ask {
    /// Name of the upstream.
    pub upstream: Arc<str>,
    /// The request. Its id is the server's: whoever hands it to the client gives it another one.
    pub message: Message,
    /// Takes the answer.
    pub reply: AskReply,
}

type Take = Box<dyn FnOnce(Message) + Send>;

/// Takes the client's response to a server's request. Dropped without one, the server gets an error.
pub struct AskReply {
    id: Id,
    take: Option<Take>,
}

impl AskReply {
    /// `id` is the server's; `take` is given a response with that id and must not wait.
    pub fn new(id: Id, take: impl FnOnce(Message) + Send + 'static) -> Self {
        Self { id, take: Some(Box::new(take)) }
    }

    /// The server's id of the request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The client's response, under whatever id it came.
    pub fn answer(mut self, response: &Message) {
        self.send(response);
    }

    /// The same, but for what `change` makes of the response.
    #[must_use]
    pub fn map(mut self, change: impl FnOnce(Message) -> Message + Send + 'static) -> Self {
        self.take = self
            .take
            .take()
            .map(|take| -> Take { Box::new(move |response| take(change(response))) });
        self
    }

    /// Nobody answers. `error` is JSON text of a JSON-RPC error.
    pub fn refuse(mut self, error: &str) {
        self.fail(error);
    }

    /// The server does not wait any more.
    pub fn forget(mut self) {
        self.take = None;
    }

    fn send(&mut self, response: &Message) {
        let Some(take) = self.take.take() else { return };
        let id = self.id.as_json().as_bytes();
        let text = crate::protocol::splice(response.text(), &[(response.id_span(), id)]);
        if let Ok(response) = Message::parse(text) {
            take(response);
        }
    }

    fn fail(&mut self, error: &str) {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, self.id);
        if let (Some(take), Ok(response)) = (self.take.take(), Message::parse(text.into())) {
            take(response);
        }
    }
}

/// What a server gets whose request no client answers.
const UNANSWERED: &str =
    r#"{"code":-32603,"message":"The client is gone, or it did not answer the request."}"#;

impl Drop for AskReply {
    fn drop(&mut self) {
        self.fail(UNANSWERED);
    }
}

impl fmt::Debug for AskReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskReply").field("id", &self.id).finish_non_exhaustive()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "Whole({} bytes)", bytes.len()),
            Self::Stream(_, length) => write!(f, "Stream({length:?})"),
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(json) => f.debug_tuple("Json").field(&json.body).finish(),
            Self::Messages(_) => f.write_str("Messages"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn asked() -> (AskReply, Arc<Mutex<Vec<Message>>>) {
        let got = Arc::<Mutex<Vec<Message>>>::default();
        let kept = Arc::clone(&got);
        let id = Id::parse(r#""s-1""#).unwrap();
        (AskReply::new(id, move |response| kept.lock().unwrap().push(response)), got)
    }

    #[test]
    fn a_server_gets_the_response_under_its_own_id() {
        let (reply, got) = asked();
        let text = r#"{"jsonrpc":"2.0", "id" : 7, "result":{"x":1.0}}"#;
        reply.answer(&Message::parse(Bytes::from(text)).unwrap());
        let got = got.lock().unwrap();
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].text(), &text.replace('7', r#""s-1""#));
    }

    #[test]
    fn a_server_whose_request_is_dropped_or_refused_gets_an_error() {
        let (reply, got) = asked();
        drop(reply);
        assert!(got.lock().unwrap()[0].error().unwrap().contains("-32603"));
        let (reply, got) = asked();
        reply.refuse(r#"{"code":-1,"message":"no"}"#);
        assert_eq!(got.lock().unwrap()[0].error(), Some(r#"{"code":-1,"message":"no"}"#));
    }
}
