//! One request to a child, and its answer.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use tokio::time::{Instant, timeout, timeout_at};

use super::child::Child;
use super::routes::{Closed, Receipt, Ticket, TooLong};
use super::tasks::About;
use crate::pipeline::port::{Answer, Incoming, Order};
use crate::protocol::feature::TASKS;
use crate::protocol::union::without;
use crate::protocol::{Era, Field, Id, Method};
use crate::upstream::authored::{Hello, cancelled};
use crate::upstream::failure::Failure;
use crate::upstream::limits::FIRST_EVENT;
use crate::upstream::permission::{Permission, claimed};
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
    /// What it says of a task.
    about: Option<About>,
    /// It is there, and what was said before it is handed on first.
    response: Option<Bytes>,
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

/// What may come next.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
enum Next {
    Note(Incoming),
    Response(Bytes),
}

/// Sends a request and waits until its answer begins. A child that is `lone` ends with this answer, and any task with it: the
/// server is not told that the client knows tasks. [`Closed`] means that the child ended before, and nothing was sent.
pub(super) async fn call(
    child: &Arc<Child>,
    order: &Order,
    lone: bool,
) -> Result<Result<Answer, Failure>, Closed> {
    let ticket = Ticket {
        permission: Permission::of(&child.spec.name, child.spec.asks, &order.party),
        party: Some(order.party.id),
        id: order.message.id().cloned().unwrap_or_else(|| Id::number(0)),
        token: order.message.field(Field::MetaProgressToken).map(str::to_owned),
        subscribes: order.message.method() == Method::SubscriptionsListen,
    };
    let (number, receipt) = child.routes.open(Some(ticket))?;
    let modern = order.party.revision.era() == Era::Modern;
    let translated = (modern && child.era == Era::Legacy).then(|| order.message.method());
    let now = Instant::now();
    let due = now + child.spec.limits.call;
    let flight = Flight {
        child: Arc::clone(child),
        number,
        cancels: modern || order.message.method() == Method::SubscriptionsListen,
        translated,
        about: About::of(&order.message, order.party.revision.era()),
        response: None,
        _counted: child.spec.status.tally.request(),
        deadline: (order.message.method() != Method::SubscriptionsListen).then_some(due),
    };
    let allowed = child.spec.asks;
    let meta =
        (!modern && child.era == Era::Modern).then(|| Hello::of(&order.party, allowed).meta());
    let declared = order.message.field(Field::MetaCapabilities).filter(|_| modern);
    let mut claims = declared.and_then(|declared| claimed(declared, allowed));
    if lone && let Some(declared) = declared {
        let claimed = claims.as_deref().unwrap_or(declared);
        claims = Some(without(claimed, TASKS.capability(Era::Modern)));
    }
    let (name, number) = (order.name.as_deref(), Some(number));
    let (meta, capabilities) = (meta.as_deref(), claims.as_deref());
    let without_context = translated.is_some();
    let change = Change { name, meta, capabilities, without_context, number, ..Change::default() };
    let text = rewrite::request(&order.message, change);
    if let Err(failure) = child.write(text, due).await {
        return Ok(Err(failure));
    }
    Ok(flight.begin(receipt).await)
}

impl Flight {
    async fn begin(mut self, mut receipt: Receipt) -> Result<Answer, Failure> {
        // A client hears at once of a server that has something to say, or nothing yet.
        let first = match timeout(FIRST_EVENT, self.next(&mut receipt)).await.ok().transpose()? {
            Some(Next::Response(text)) => return Ok(Answer::whole(text)),
            first => first,
        };
        let state = Some((self, receipt, first));
        Ok(Answer::messages(stream::unfold(state, |state| async move {
            let (mut flight, mut receipt, first) = state?;
            let next = match first {
                Some(first) => Ok(first),
                None => flight.next(&mut receipt).await,
            };
            Some(match next {
                Ok(Next::Note(message)) => (Ok(message), Some((flight, receipt, None))),
                Ok(Next::Response(text)) => (Ok(Incoming::Response(text)), None),
                Err(failure) => (Err(failure.fault()), None),
            })
        })))
    }

    /// What was said before the response comes before it, in whatever order both are noticed.
    async fn next(&mut self, receipt: &mut Receipt) -> Result<Next, Failure> {
        if self.response.is_none() {
            self.response = match self.wait(receipt).await? {
                Next::Response(text) => Some(text),
                note @ Next::Note(_) => return Ok(note),
            };
        }
        if let Ok(note) = receipt.notes.try_recv() {
            return Ok(Next::Note(note));
        }
        self.response.take().map(Next::Response).ok_or_else(|| self.child.crashed())
    }

    async fn wait(&mut self, receipt: &mut Receipt) -> Result<Next, Failure> {
        let next = async {
            tokio::select! {
                biased;
                Some(note) = receipt.notes.recv() => Ok(Next::Note(note)),
                response = &mut receipt.done => {
                    let response = response.map_err(|_closed| self.child.crashed())?;
                    let response = response.map_err(|TooLong| self.child.oversized())?;
                    let (child, now) = (&self.child, std::time::Instant::now());
                    child.tasks.heard(self.about.as_ref(), &response, child.era, now);
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
