//! Streams toward clients: kept open by comments, ended by a message where something fails.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::{Instant, Sleep, sleep};

use super::reply::{self, Asked};
use crate::fault::Fault;
use crate::pipeline::RequestId;
use crate::pipeline::port::{Answer, Body, Chunks, Json};
use crate::protocol::{Era, Id, Method, sse};
use crate::telemetry::Metrics;

/// A stream of events that sends a comment after each silence.
pub struct Events {
    source: Option<Chunks>,
    silence: Duration,
    timer: Pin<Box<Sleep>>,
}

/// What the stream answers: [`Asked`], kept while the stream lives.
pub(super) struct Question {
    request_id: RequestId,
    era: Era,
    method: Method,
    id: Option<Id>,
}

impl Question {
    pub(super) fn of(asked: Asked<'_>) -> Self {
        let Asked { request_id, era, method, id } = asked;
        Self { request_id, era, method, id: id.cloned() }
    }

    /// A fault as its answer.
    pub(super) fn answer(&self, fault: &Fault) -> Bytes {
        let Self { request_id, era, method, ref id } = *self;
        reply::fault_body(fault, Asked { request_id, era, method, id: id.as_ref() })
    }
}

impl Events {
    /// Each item is the text of a message. A fault becomes the answer to what was asked, or ends a stream that answers
    /// nothing.
    pub fn new(messages: Chunks, silence: Duration, asked: Option<Asked<'_>>) -> Self {
        let state = Some((messages, asked.map(Question::of)));
        let events = stream::unfold(state, |state| async move {
            let (mut messages, question) = state?;
            match messages.next().await? {
                Ok(text) => Some((Ok(sse::encode(&text)), Some((messages, question)))),
                Err(fault) => Some((Ok(sse::encode(&question?.answer(&fault))), None)),
            }
        });
        Self::encoded(events, silence)
    }

    /// Each item is the text of an event. A fault breaks the connection.
    pub fn encoded(
        events: impl Stream<Item = Result<Bytes, Fault>> + Send + 'static,
        silence: Duration,
    ) -> Self {
        Self { source: Some(Box::pin(events)), silence, timer: Box::pin(sleep(silence)) }
    }

    fn rest(&mut self) {
        let next = Instant::now() + self.silence;
        self.timer.as_mut().reset(next);
    }
}

impl Stream for Events {
    type Item = Result<Bytes, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(source) = self.source.as_mut() else { return Poll::Ready(None) };
        match source.as_mut().poll_next(cx) {
            Poll::Ready(Some(event)) => {
                self.rest();
                Poll::Ready(Some(event))
            }
            Poll::Ready(None) => {
                self.source = None;
                Poll::Ready(None)
            }
            Poll::Pending => match self.timer.as_mut().poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(()) => {
                    self.rest();
                    Poll::Ready(Some(Ok(Bytes::from_static(sse::KEEP_ALIVE))))
                }
            },
        }
    }
}

/// Counts a fault that comes once the answer has begun.
pub fn counted(answered: Answer, counts: &Arc<Metrics>) -> Answer {
    let counts = counts.clone();
    match answered {
        Answer::Json(Json { body: Body::Stream(chunks, length), refusal }) => {
            let chunks = chunks.inspect_err(move |fault| counts.fault(fault));
            Answer::Json(Json { body: Body::Stream(Box::pin(chunks), length), refusal })
        }
        Answer::Json(whole) => Answer::Json(whole),
        Answer::Messages(messages) => {
            Answer::messages(messages.inspect_err(move |fault| counts.fault(fault)))
        }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("silence", &self.silence).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Code;
    use crate::telemetry::Exposition;
    use crate::transport::site::Bounds;

    const SILENCE: Duration = Duration::from_millis(1);

    fn asked(id: &Id) -> Asked<'_> {
        let request_id = RequestId::next();
        Asked { request_id, era: Era::Legacy, method: Method::ToolsList, id: Some(id) }
    }

    #[tokio::test]
    async fn a_silent_stream_is_kept_open_by_comments() {
        let mut events = Events::new(Box::pin(stream::pending()), SILENCE, None);
        for _ in 0..3 {
            assert_eq!(events.next().await.unwrap().unwrap(), sse::KEEP_ALIVE);
        }
    }

    #[tokio::test]
    async fn a_comment_is_due_after_15_seconds_of_silence() {
        let silence = Bounds::default().keep_alive;
        assert_eq!(silence, Duration::from_secs(15));
        let (said, messages) = tokio::sync::mpsc::channel(1);
        let messages =
            stream::unfold(messages, async |mut messages| Some((messages.recv().await?, messages)));
        let begun = Instant::now();
        let mut events = Events::new(Box::pin(messages), silence, None);
        assert!(events.timer.deadline() >= begun + silence);
        assert!(futures_util::poll!(events.next()).is_pending());
        // Whatever is said puts it off.
        let later = Instant::now();
        said.send(Ok(Bytes::from_static(b"1"))).await.unwrap();
        assert_eq!(events.next().await.unwrap().unwrap(), "event: message\ndata: 1\n\n");
        let due = events.timer.deadline();
        assert!(due >= later + silence && due <= Instant::now() + silence);
    }

    #[tokio::test]
    async fn a_fault_is_the_answer_and_the_end() {
        let chunks = stream::iter([
            Ok(Bytes::from_static(b"1")),
            Err(Fault::new(Code::UpstreamBroken, "It broke off.")),
            Ok(Bytes::from_static(b"2")),
        ]);
        let id = Id::number(7);
        let mut events = Events::new(Box::pin(chunks), Duration::from_mins(1), Some(asked(&id)));
        assert_eq!(events.next().await.unwrap().unwrap(), "event: message\ndata: 1\n\n");
        let answer = events.next().await.unwrap().unwrap();
        let answer = String::from_utf8(answer.to_vec()).unwrap();
        assert!(answer.contains(r#""id":7,"error""#) && answer.ends_with("\n\n"), "{answer}");
        assert!(events.next().await.is_none());
    }

    #[tokio::test]
    async fn a_fault_in_the_middle_of_an_answer_is_counted() {
        let counts = Arc::new(Metrics::new());
        let chunks = stream::iter([
            Ok(Bytes::from_static(b"{")),
            Err(Fault::new(Code::UpstreamBroken, "It broke off.")),
        ]);
        let answered = counted(Answer::streamed(Box::pin(chunks), None), &counts);
        let Answer::Json(Json { body: Body::Stream(mut chunks, None), .. }) = answered else {
            panic!("a stream stays a stream");
        };
        assert!(chunks.next().await.unwrap().is_ok() && chunks.next().await.unwrap().is_err());
        let mut text = Exposition::default();
        counts.write(&mut text);
        let line = "plugway_errors_total{blame=\"upstream\",code=\"upstream-broken\"} 1\n";
        assert!(text.finish().contains(line));
    }

    #[tokio::test]
    async fn a_fault_on_a_stream_that_answers_nothing_just_ends_it() {
        let chunks = stream::iter([Err(Fault::new(Code::UpstreamBroken, "It broke off."))]);
        let mut events = Events::new(Box::pin(chunks), Duration::from_mins(1), None);
        assert!(events.next().await.is_none());
    }
}
