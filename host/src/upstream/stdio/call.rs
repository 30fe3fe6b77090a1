//! One request to a child, and its answer.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream;
use tokio::time::{Instant, timeout_at};

use super::child::Child;
use super::routes::{Closed, Receipt, Ticket};
use crate::fault::Fault;
use crate::pipeline::port::{Answer, Body, Form, Order};
use crate::protocol::{Era, Field, Id, Method, sse};
use crate::upstream::authored::{Hello, cancelled};
use crate::upstream::failure::Failure;
use crate::upstream::rewrite::{self, Change};
use crate::upstream::tally::Counted;

/// A request in flight. When it is dropped nobody waits any more; a modern client has cancelled it by that.
struct Flight {
    child: Arc<Child>,
    number: u64,
    cancels: bool,
    /// When the answer is due; `subscriptions/listen` has no end.
    deadline: Option<Instant>,
    /// What a modern client asked of a server of the legacy era: the answer gets what that client requires.
    translated: Option<Method>,
    _counted: Counted,
}

impl Drop for Flight {
    fn drop(&mut self) {
        let unfinished = self.child.routes.forget(self.number);
        if unfinished
            && self.cancels
            && self.child.writer.try_send(cancelled(&self.number.to_string())).is_err()
        {
            tracing::debug!(upstream = &*self.child.spec.name, "a cancellation did not arrive");
        }
    }
}

/// Between two pieces of a streamed answer: what is left to wait for, and a first piece that is there already.
type State = Option<(Flight, Receipt, Option<Bytes>)>;

/// What may come next.
enum Next {
    Note(Bytes),
    Response(Bytes),
}

/// Sends a request and waits until its answer begins. [`Closed`] means that the child ended before, and nothing was
/// sent.
pub(super) async fn call(
    child: &Arc<Child>,
    order: &Order,
) -> Result<Result<Answer, Failure>, Closed> {
    let ticket = Ticket {
        party: Some(order.party.id),
        id: order.message.id().cloned().unwrap_or_else(|| Id::number(0)),
        token: order.message.field(Field::MetaProgressToken).map(str::to_owned),
    };
    let (number, receipt) = child.routes.open(Some(ticket))?;
    let modern = order.party.revision.era() == Era::Modern;
    let translated = (modern && child.era == Era::Legacy).then(|| order.message.method());
    let now = Instant::now();
    let due = now + child.spec.limits.call;
    let flight = Flight {
        child: Arc::clone(child),
        number,
        cancels: modern,
        translated,
        _counted: child.spec.status.tally.request(),
        deadline: (order.message.method() != Method::SubscriptionsListen).then_some(due),
    };
    let meta = (!modern && child.era == Era::Modern).then(|| Hello::of(&order.party).meta());
    let (name, number) = (order.name.as_deref(), Some(number));
    let change = Change { name, meta: meta.as_deref(), number, ..Change::default() };
    let text = rewrite::request(&order.message, change);
    if let Err(failure) = child.write(text, due).await {
        return Ok(Err(failure));
    }
    Ok(flight.begin(receipt).await)
}

impl Flight {
    async fn begin(mut self, mut receipt: Receipt) -> Result<Answer, Failure> {
        match self.next(&mut receipt).await? {
            Next::Response(response) => Ok(whole(&mut receipt, response)),
            Next::Note(note) => {
                let state = Some((self, receipt, Some(sse::encode(&note))));
                let chunks = stream::unfold(state, |state| async move {
                    let (mut flight, mut receipt, first) = state?;
                    if let Some(first) = first {
                        return Some((Ok(first), Some((flight, receipt, None))));
                    }
                    let next = flight.next(&mut receipt).await;
                    Some(flight.piece(receipt, next))
                });
                Ok(Answer { form: Form::Events, body: Body::Stream(Box::pin(chunks), None) })
            }
        }
    }

    fn piece(
        self,
        mut receipt: Receipt,
        next: Result<Next, Failure>,
    ) -> (Result<Bytes, Fault>, State) {
        match next {
            Ok(Next::Note(note)) => (Ok(sse::encode(&note)), Some((self, receipt, None))),
            Ok(Next::Response(response)) => {
                let mut last = late_notes(&mut receipt);
                last.extend_from_slice(&sse::encode(&response));
                (Ok(last.freeze()), None)
            }
            Err(failure) => (Err(failure.fault()), None),
        }
    }

    async fn next(&mut self, receipt: &mut Receipt) -> Result<Next, Failure> {
        let next = async {
            tokio::select! {
                biased;
                Some(note) = receipt.notes.recv() => Ok(Next::Note(note)),
                response = &mut receipt.done => {
                    let response = response.map_err(|_closed| self.child.crashed())?;
                    Ok(Next::Response(match self.translated {
                        Some(method) => rewrite::for_modern(response, method),
                        None => response,
                    }))
                }
            }
        };
        let Some(deadline) = self.deadline else { return next.await };
        let Ok(next) = timeout_at(deadline, next).await else {
            self.cancels = true;
            return Err(Failure::timeout(&self.child.spec.name, self.child.spec.limits.call));
        };
        next
    }
}

/// Notifications that arrived just before the response.
fn late_notes(receipt: &mut Receipt) -> BytesMut {
    let mut text = BytesMut::new();
    while let Ok(note) = receipt.notes.try_recv() {
        text.extend_from_slice(&sse::encode(&note));
    }
    text
}

fn whole(receipt: &mut Receipt, response: Bytes) -> Answer {
    let mut notes = late_notes(receipt);
    if notes.is_empty() {
        return Answer { form: Form::Json, body: Body::Whole(response) };
    }
    notes.extend_from_slice(&sse::encode(&response));
    Answer { form: Form::Events, body: Body::Whole(notes.freeze()) }
}
