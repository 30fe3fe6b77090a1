//! `subscriptions/listen` at a server of the legacy era: a session of its own, in which each resource is subscribed to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, future, stream};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;

use super::subscriber::Core;
use super::uris;
use crate::fault::Fault;
use crate::pipeline::Level;
use crate::pipeline::collect;
use crate::pipeline::party::{Outbox, Party, PartyId};
use crate::pipeline::port::{Answer, Incoming, Notification, Order, Phase, Promise};
use crate::protocol::{Id, Message, Method, Revision, subscription};
use crate::upstream::authored::request;
use crate::upstream::failure::Failure;
use crate::upstream::limits::{ERROR_BODY, RESUBSCRIBE_AT_ONCE, SUBSCRIPTION_CHECK, UPDATES};

/// Numbers of the parties that are made here: those of the session room count from 1.
static NEXT: AtomicU64 = AtomicU64::new(1 << 63);

/// Opens the session, subscribes, and tells what the server tells.
pub(super) async fn listen(core: Arc<Core>, order: Order) -> Answer {
    let (sender, updates) = mpsc::channel(UPDATES);
    let overrun = CancellationToken::new();
    let party = Arc::new(Party {
        id: PartyId(NEXT.fetch_add(1, Ordering::Relaxed)),
        revision: Revision::NEWEST_LEGACY,
        shared_by_strangers: false,
        client_info: order.party.client_info.clone(),
        capabilities: None,
        further: None,
        loads: None,
        outbox: Arc::new(Updates { sender, overrun: overrun.clone() }),
    });
    let id = order.message.id().cloned().unwrap_or_else(|| Id::number(0));
    let session = Session { core, party, order, id, updates, overrun };
    let honoured = session.subscribe().await;
    let first = session.note(uris::acknowledged(&session.id, &honoured));
    let later = stream::unfold(Some(session), |session| async {
        let mut session = session?;
        let next = session.next().await;
        let goes_on = next.is_ok();
        Some((next, goes_on.then_some(session)))
    });
    Answer::messages(stream::iter([Ok(first)]).chain(later))
}

/// The session, which ends with the stream.
struct Session {
    core: Arc<Core>,
    party: Arc<Party>,
    order: Order,
    id: Id,
    updates: mpsc::Receiver<Bytes>,
    /// The client takes less than the server tells.
    overrun: CancellationToken,
}

impl Session {
    /// Subscribes to each resource; those that the server agreed to.
    async fn subscribe(&self) -> Vec<String> {
        let uris = stream::iter(uris::named(&self.order.message));
        let subscribed = uris.map(|uri| self.one(uri)).buffered(RESUBSCRIBE_AT_ONCE);
        subscribed.filter_map(future::ready).collect().await
    }

    /// Subscribes to a resource; gives it back where the server agreed.
    fn one(&self, uri: String) -> Promise<'_, Option<String>> {
        Box::pin(async move {
            let params = format!(r#"{{"uri":{}}}"#, Value::from(&*uri));
            let order = self.asking(Method::ResourcesSubscribe, &params)?;
            let answer = self.core.in_session(order).await.ok()?;
            let answer = collect::response(answer, ERROR_BODY).await.ok()?;
            answer.result().map(|_| uri)
        })
    }

    /// A request of plugway's own in the session.
    fn asking(&self, method: Method, params: &str) -> Option<Order> {
        static IDS: AtomicU64 = AtomicU64::new(1);
        let text = request(IDS.fetch_add(1, Ordering::Relaxed), method.as_str(), params);
        let message = Message::parse(text).ok()?;
        let (party, credential) = (Arc::clone(&self.party), self.order.credential.clone());
        Some(Order { party, message, name: None, headers: Vec::new(), credential })
    }

    fn note(&self, text: Bytes) -> Incoming {
        let upstream = Arc::clone(self.core.inner.name());
        Incoming::Notification(Notification { upstream, text })
    }

    /// The next update. A session that the server lost is noticed by asking, and opened again by that.
    async fn next(&mut self) -> Result<Incoming, Fault> {
        let mut ticks = interval(SUBSCRIPTION_CHECK);
        ticks.reset();
        let mut watch = self.core.inner.watch();
        watch.mark_unchanged();
        loop {
            tokio::select! {
                biased;
                () = self.core.over.cancelled() => return Err(Failure::stopping().fault()),
                () = self.overrun.cancelled() => {
                    return Err(Failure::crowded(self.core.inner.name()).fault());
                }
                Some(text) = self.updates.recv() => {
                    if let Ok(update) = Message::parse(text)
                        && update.method() == Method::ResourcesUpdated
                    {
                        return Ok(self.note(subscription::tagged(&update, &self.id)));
                    }
                }
                Ok(()) = watch.changed() => {
                    if watch.borrow_and_update().phase == Phase::Connected {
                        self.check().await;
                    }
                }
                _ = ticks.tick() => self.check().await,
            }
        }
    }

    async fn check(&self) {
        let Some(ping) = self.asking(Method::Ping, "{}") else { return };
        let asked = async {
            let answer = Box::pin(self.core.inner.exchange(ping)).await?;
            collect::response(answer, ERROR_BODY).await
        };
        if !matches!(timeout(PING, asked).await, Ok(Ok(_))) {
            let upstream = &**self.core.inner.name();
            tracing::debug!(upstream, "the session of a subscription could not be looked at");
        }
    }
}

/// Time for one look.
const PING: Duration = Duration::from_secs(10);

impl Drop for Session {
    fn drop(&mut self) {
        let (core, party) = (Arc::clone(&self.core), self.party.id);
        drop(self.core.tracker.spawn(async move { core.leave(party).await }));
    }
}

/// Takes what the server says in the session.
struct Updates {
    sender: mpsc::Sender<Bytes>,
    overrun: CancellationToken,
}

impl Outbox for Updates {
    fn offer(&self, _message: Bytes) -> bool {
        false
    }

    fn forward(&self, message: Incoming) -> bool {
        let Incoming::Notification(note) = message else { return false };
        let taken = self.sender.try_send(note.text).is_ok();
        if !taken {
            self.overrun.cancel();
        }
        taken
    }

    fn listened(&self) -> Promise<'_, ()> {
        Box::pin(future::ready(()))
    }

    fn offer_once(&self, message: Bytes) -> bool {
        self.offer(message)
    }

    fn saw(&self, _list: usize, _generation: u32) {}

    fn take_seen(&self) -> [(u32, u32); 3] {
        [(0, 0); 3]
    }

    fn wants(&self, _level: Level) -> bool {
        false
    }

    fn level(&self) -> Option<Level> {
        None
    }

    fn set_level(&self, _level: Level) {}
}
