//! The requests of a client, one by one and in batches.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::OwnedSemaphorePermit;

use super::answers;
use super::client::{Client, Sender, era, not_initialized, nothing_known, outcome, overloaded};
use super::flights::Flight;
use crate::fault::Fault;
use crate::pipeline::port::Answer;
use crate::pipeline::{RequestId, answer};
use crate::protocol::{Era, Id, Kind, Message, Method};
use crate::session::Session;
use crate::transport::reply::{self, Asked};
use crate::transport::{batch, handover, legacy, modern};

impl Client {
    pub(super) async fn request(self: &Arc<Self>, sender: Sender, message: Message) {
        let Some(id) = message.id().cloned() else { return };
        let (request_id, era, method) = (RequestId::next(), era(&message), message.method());
        let asked = Asked { request_id, era, method, id: Some(&id) };
        if (era, method) == (Era::Legacy, Method::Initialize) {
            return self.initialize(&sender, &message, asked).await;
        }
        let (permit, flight) = match self.begin(&id) {
            Ok(begun) => begun,
            Err(fault) => return self.refuse(&sender.site, &fault, asked).await,
        };
        let client = Arc::clone(self);
        self.tasks.spawn(async move {
            let answering = client.answer(&sender, message, &id, request_id);
            let flying = flight.run(answering, |note| client.pass_on(&id, note));
            let flying = Box::pin(flying);
            client.quit.run_until_cancelled(flying).await;
            drop(permit);
        });
    }

    fn begin(&self, id: &Id) -> Result<(OwnedSemaphorePermit, Flight), Fault> {
        let permit = self.permits.clone().try_acquire_owned().map_err(|_full| overloaded())?;
        Ok((permit, self.flights.begin(id)?))
    }

    /// Serves a request and sends its answer.
    async fn answer(&self, sender: &Sender, message: Message, id: &Id, request_id: RequestId) {
        let start = Instant::now();
        let (era, method) = (era(&message), message.method());
        self.start.wait(method).await;
        let served = self.serve(sender, message, id, request_id).await;
        sender.site.counts.request(method, outcome(&served), start.elapsed());
        let sent = match served {
            Ok(answer) => {
                let session = self.session.get().filter(|_| era == Era::Legacy).cloned();
                answers::send(answer, &self.output, |messages| match session {
                    Some(session) => handover::in_session(session, messages),
                    None => handover::stateless(messages),
                })
                .await
            }
            Err(fault) => Err(fault),
        };
        match sent {
            Ok(true) => {}
            // A subscription broke off: over pipes this is how a client learns of it (MCP 2026-07-28, "Subscriptions").
            Ok(false) => self.output.send(cancelled(id)).await,
            Err(fault) => {
                let asked = Asked { request_id, era, method, id: Some(id) };
                self.refuse(&sender.site, &fault, asked).await;
            }
        }
    }

    async fn serve(
        &self,
        sender: &Sender,
        message: Message,
        id: &Id,
        request_id: RequestId,
    ) -> Result<Answer, Fault> {
        let (visitor, head) = (sender.visitor(&self.connector)?, sender.head());
        if era(&message) == Era::Modern {
            modern::check_meta(&message)?;
            return modern::ask(&sender.site, &visitor, head, message, request_id).await;
        }
        match self.session.get() {
            Some(session) => {
                legacy::request((&visitor, session), head, message, id, (request_id, true)).await
            }
            None if message.method() == Method::Ping => Ok(answer::result(id, b"{}")),
            None => Err(not_initialized()),
        }
    }

    /// Answers a batch of revision 2025-03-26 with one message.
    pub(super) async fn batch(self: &Arc<Self>, sender: Sender, text: &Bytes) {
        let split = self.session.get().ok_or_else(not_initialized).and_then(|session| {
            let messages = batch::split(session, text)?;
            let count = u32::try_from(messages.len()).unwrap_or(u32::MAX);
            let permits = self.permits.clone().try_acquire_many_owned(count);
            Ok((Arc::clone(session), messages, permits.map_err(|_full| overloaded())?))
        });
        let (session, messages, permits) = match split {
            Ok(split) => split,
            Err(fault) => return self.refuse(&sender.site, &fault, nothing_known()).await,
        };
        let client = Arc::clone(self);
        self.tasks.spawn(async move {
            let parts = messages.into_iter().map(|message| client.part(&sender, &session, message));
            let answers = client.quit.run_until_cancelled(join_all(parts)).await;
            let answers: Vec<Bytes> = answers.into_iter().flatten().flatten().collect();
            if !answers.is_empty() {
                client.output.send(batch::array(&answers)).await;
            }
            drop(permits);
        });
    }

    /// Takes one message of a batch; its response, where it asks for one and is not given up.
    async fn part(
        &self,
        sender: &Sender,
        session: &Arc<Session>,
        message: Message,
    ) -> Option<Bytes> {
        let Some(id) = message.id().cloned().filter(|_| message.kind() == Kind::Request) else {
            match message.kind() {
                Kind::Response => self.answered(&message),
                _ => self.note(sender, message).await,
            }
            return None;
        };
        self.start.wait(message.method()).await;
        let begun = sender
            .visitor(&self.connector)
            .and_then(|visitor| Ok((visitor, self.flights.begin(&id)?)));
        let (visitor, flight) = match begun {
            Ok(begun) => begun,
            Err(fault) => {
                let (request_id, method) = (RequestId::next(), message.method());
                sender.site.counts.fault(&fault);
                let asked = Asked { request_id, era: Era::Legacy, method, id: Some(&id) };
                return Some(reply::fault_body(&fault, asked));
            }
        };
        let answering = batch::answer(&sender.site, (&visitor, session), sender.head(), message);
        Box::pin(flight.run(answering, |note| self.pass_on(&id, note))).await.flatten()
    }
}

fn cancelled(id: &Id) -> Bytes {
    let method = Method::Cancelled.as_str();
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":{id}}}}}"#).into()
}
