//! What servers ask clients, between the eras: a server of the legacy era sends the client a request in the middle of a
//! call, one of the modern era ends the call with the questions, and the client calls again with the answers (MCP
//! 2026-07-28, "Multi Round-Trip Requests").
//!
//! Reading order: [`input`] is the wire format, [`allowed`] what of it a client gets; [`large`] looks into answers that stream,
//! with the eyes of [`result_type`]; [`talk`] serves a legacy client, [`modern`] a modern one; [`suspend`] lets a call wait for a
//! modern client, [`suspended`] keeps those that wait, and [`retry`] finds the one that goes on.

pub(super) mod allowed;
pub(super) mod declared;
pub(super) mod digest;
pub(super) mod input;
mod large;
mod limits;
mod modern;
mod result_type;
mod retry;
mod suspend;
mod suspended;
mod talk;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;

use super::connector::Connector;
use super::exchange::{Call, Destination};
use super::inbound;
use super::port::{Answer, Order, Upstream};
use super::request::Request;
use crate::fault::{Code, Fault};
use crate::protocol::{Era, Message, Method, Revision};

pub(super) use large::looked_into;
pub(super) use limits::RESPONSE;
pub(super) use retry::{About, Resumed, lost, open, refuse_foreign, stale};
pub(super) use suspended::Suspended;

/// A call between a client and a server that may be of different eras.
pub(super) struct Side {
    connector: Arc<Connector>,
    upstream: Arc<dyn Upstream>,
    /// As policies left it.
    request: Request,
    /// As the client sent it, without what belongs to a retry.
    asked: Message,
    /// Name or URI as the client sent it.
    name: Arc<str>,
    /// The upstream's own name; none leaves what the client sent.
    own_name: Option<Arc<str>>,
    /// The request id of the first try.
    first: Arc<str>,
}

impl Side {
    /// The call on its way to `upstream`.
    pub(super) fn of(call: &Call<'_>, upstream: &Arc<dyn Upstream>, to: &Destination) -> Self {
        Self {
            connector: call.connector.clone(),
            upstream: upstream.clone(),
            request: call.request.clone(),
            asked: call.asked.as_deref().unwrap_or(&call.request.message).clone(),
            name: call.name.clone(),
            own_name: to.name.clone(),
            first: call.first(),
        }
    }

    /// Sends a request, and lets policies judge what the server says before its response.
    async fn exchange(&self, order: Order) -> Result<Answer, Fault> {
        let method = order.message.method();
        let answer = self.upstream.exchange(order).await?;
        let answer = looked_into(&self.connector, method, &*self.upstream, answer).await?;
        let toward = self.request.toward();
        inbound::answer(&self.connector, toward, self.upstream.name(), answer).await
    }

    fn order(&self, message: Message) -> Order {
        Order {
            party: self.request.party.clone(),
            message,
            name: self.own_name.clone(),
            headers: self.request.passed.clone(),
            credential: self.request.credential.clone(),
        }
    }

    /// A question of the server as the client gets it.
    fn prepared(&self, question: Bytes, method: &str) -> Result<Message, Fault> {
        allowed::prepared(&*self.upstream, &self.request.party, question, method)
    }

    fn broken(&self, what: &str) -> Fault {
        let text = format!("The server {:?} {what}.", self.upstream.name());
        Fault::new(Code::UpstreamBroken, text)
    }
}

/// The answer of a server as a client of the request's era gets it.
pub(super) async fn answered(
    call: &Call<'_>,
    upstream: &Arc<dyn Upstream>,
    to: &Destination,
    answer: Answer,
) -> Result<Answer, Fault> {
    let side = || Side::of(call, upstream, to);
    match call.request.era() {
        Era::Legacy if asks(call.request.message.method()) => {
            talk::answered(side, speaks_modern(&**upstream), answer)
        }
        Era::Legacy => Ok(answer),
        // What a plugin asks for comes as the server gave it: nobody is asked anything for a plugin.
        Era::Modern if call.request.depth > 0 => Ok(answer),
        Era::Modern => modern::answered(side, answer).await,
    }
}

/// The methods that a server may answer with questions.
pub(super) fn asks(method: Method) -> bool {
    matches!(method, Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead)
}

/// Whether a server is known to speak the modern era; it may speak the legacy one as well.
pub(super) fn speaks_modern(upstream: &dyn Upstream) -> bool {
    revision(upstream).is_some_and(|revision| revision.era() == Era::Modern)
}

fn revision(upstream: &dyn Upstream) -> Option<Revision> {
    upstream.watch().borrow().offering.as_ref()?.revision
}
