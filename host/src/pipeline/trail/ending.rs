//! Sees an answer through: the line of a call is handed over when its answer ended, was cut off, given up or refused.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use super::record::Trail;
use super::sniff::Sniff;
use crate::fault::Fault;
use crate::pipeline::connector::Connector;
use crate::pipeline::port::{Answer, Body, CallEnd, Chunks, Incoming, Json, Messages};
use crate::pipeline::request::{Request, RequestId};
use crate::protocol::Method;

/// Whether a request leaves a line: what calls, reads or asks for something of a server. Lists are what a caller sees of a
/// connector, and those that were refused or shortened say so where the call is made.
fn is_call(request: &Request) -> bool {
    matches!(
        request.message.method(),
        Method::ToolsCall
            | Method::PromptsGet
            | Method::ResourcesRead
            | Method::ResourcesSubscribe
            | Method::ResourcesUnsubscribe
            | Method::Complete
            | Method::Other
    )
}

/// A call that has not ended. Dropped before its end, its line says so.
#[derive(Debug)]
pub(in crate::pipeline) struct Ending {
    trail: Arc<Trail>,
    /// Bytes that were handed over.
    bytes: u64,
}

impl Ending {
    /// Puts a trail on a request that begins, where there is an audit.
    pub(in crate::pipeline) fn begin(
        connector: &Arc<Connector>,
        request: &mut Request,
        parent: Option<RequestId>,
    ) -> Option<Self> {
        let Some(auditor) = connector.auditor.as_ref().filter(|_| is_call(request)) else {
            request.trail = None;
            return None;
        };
        request.trail = None;
        let trail = Trail::begin(connector, auditor, request, parent);
        request.trail = Some(trail.clone());
        Some(Self { trail, bytes: 0 })
    }

    /// The answer, which ends the call when it has been handed over.
    pub(in crate::pipeline) async fn of(
        mut self,
        answered: Result<Answer, Fault>,
    ) -> Result<Answer, Fault> {
        match answered {
            Err(fault) => {
                self.failed(&fault).await;
                Err(fault.told())
            }
            Ok(Answer::Json(Json { body: Body::Whole(text), refusal })) => {
                self.bytes = text.len() as u64;
                let mut sniff = Sniff::default();
                sniff.see(&text);
                self.ended(sniff.end()).await?;
                Ok(Answer::Json(Json { body: Body::Whole(text), refusal }))
            }
            Ok(Answer::Json(Json { body: Body::Stream(chunks, length), refusal })) => {
                let body = Body::Stream(self.chunks(chunks), length);
                Ok(Answer::Json(Json { body, refusal }))
            }
            Ok(Answer::Messages(messages)) => Ok(Answer::Messages(self.messages(messages))),
        }
    }

    /// What was refused before anybody served it.
    pub(in crate::pipeline) async fn refused(self, fault: Fault) -> Fault {
        self.failed(&fault).await;
        fault.told()
    }

    /// What fails goes on as it is, with or without its line.
    async fn failed(self, fault: &Fault) {
        self.trail.failed(fault);
        self.ended(CallEnd::Fault(fault.code())).await.ok();
    }

    /// A fault stands in the place of an answer whose line was lost.
    async fn ended(self, end: CallEnd) -> Result<(), Fault> {
        match self.trail.tell(end, self.bytes) {
            Some(room) => room.await.map_err(Fault::told),
            None => Ok(()),
        }
    }

    fn chunks(self, chunks: Chunks) -> Chunks {
        let state = (Some((self, Sniff::default())), chunks);
        Box::pin(stream::unfold(state, async |(ending, mut chunks)| {
            let next = chunks.next().await;
            // Spaces behind the response are none of the call.
            let Some((mut ending, mut sniff)) = ending else {
                return Some((next?, (None, chunks)));
            };
            let (ending, kept) = match &next {
                Some(Ok(chunk)) => {
                    ending.bytes += chunk.len() as u64;
                    sniff.see(chunk);
                    // Who knows how long a body is does not ask what follows its last byte.
                    if sniff.is_whole() {
                        (None, ending.ended(sniff.end()).await)
                    } else {
                        (Some((ending, sniff)), Ok(()))
                    }
                }
                Some(Err(fault)) => {
                    ending.failed(fault).await;
                    (None, Ok(()))
                }
                None => (None, ending.ended(sniff.end()).await),
            };
            match kept {
                Ok(()) => Some((next?.map_err(Fault::told), (ending, chunks))),
                Err(lost) => Some((Err(lost), (None, nothing()))),
            }
        }))
    }

    fn messages(self, messages: Messages) -> Messages {
        Box::pin(stream::unfold((Some(self), messages), async |(ending, mut messages)| {
            let next = messages.next().await;
            // What follows the response is none of the call.
            let Some(mut ending) = ending else { return Some((next?, (None, messages))) };
            let (ending, kept) = match &next {
                Some(Ok(Incoming::Response(text))) => {
                    ending.bytes += text.len() as u64;
                    let mut sniff = Sniff::default();
                    sniff.see(text);
                    (None, ending.ended(sniff.end()).await)
                }
                Some(Ok(message)) => {
                    ending.bytes += size(message);
                    (Some(ending), Ok(()))
                }
                Some(Err(fault)) => {
                    ending.failed(fault).await;
                    (None, Ok(()))
                }
                // A stream without a response: it was given up.
                None => (None, Ok(())),
            };
            match kept {
                Ok(()) => Some((next?.map_err(Fault::told), (ending, messages))),
                Err(lost) => Some((Err(lost), (None, nothing()))),
            }
        }))
    }
}

/// Nothing follows.
fn nothing<T: Send + 'static>() -> std::pin::Pin<Box<dyn stream::Stream<Item = T> + Send>> {
    Box::pin(stream::empty())
}

fn size(message: &Incoming) -> u64 {
    match message {
        Incoming::Notification(note) => note.text.len() as u64,
        Incoming::Ask(ask) => ask.message.text().len() as u64,
        Incoming::Response(_) | Incoming::Break(_) => 0,
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let given_up = self.trail.is_cancelled();
        self.trail
            .tell_now(if given_up { CallEnd::Cancelled } else { CallEnd::Abandoned }, self.bytes);
    }
}
