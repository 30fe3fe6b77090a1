//! An upstream that remembers what its parties subscribed to.

use std::sync::Arc;

use tokio::sync::watch;

use super::observed::on_result;
use crate::fault::Fault;
use crate::pipeline::Level;
use crate::pipeline::party::PartyId;
use crate::pipeline::port::{Answer, Control, Numbers, Order, Promise, Snapshot, Upstream};
use crate::protocol::{Era, Field, Message, Method};
use crate::upstream::wishes::Wishes;

/// An upstream of either transport. Everything but subscriptions is the transport's.
pub(in crate::upstream) struct Subscriber {
    inner: Arc<dyn Upstream>,
    wishes: Arc<Wishes>,
}

impl Subscriber {
    /// `wishes` are repeated by the transport whenever it opens a session.
    pub(in crate::upstream) fn new(inner: Arc<dyn Upstream>, wishes: Arc<Wishes>) -> Self {
        Self { inner, wishes }
    }

    async fn subscribe(&self, order: Order) -> Result<Answer, Fault> {
        let (party, uri) = (order.party.id, order.message.string(Field::Uri).map(Arc::<str>::from));
        let Some(uri) = uri else { return self.inner.exchange(order).await };
        if order.message.method() == Method::ResourcesUnsubscribe {
            self.wishes.remove(party, &uri);
            return self.inner.exchange(order).await;
        }
        self.wishes.check(party, &uri).map_err(|failure| failure.fault())?;
        let answer = self.inner.exchange(order).await?;
        let wishes = Arc::clone(&self.wishes);
        Ok(on_result(answer, move || {
            if let Err(full) = wishes.add(party, &uri) {
                tracing::debug!(reason = &*full.reason(), "a subscription is not remembered");
            }
        }))
    }
}

impl Upstream for Subscriber {
    fn name(&self) -> &Arc<str> {
        self.inner.name()
    }

    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.inner.watch()
    }

    fn exchange(&self, order: Order) -> Promise<'_, Result<Answer, Fault>> {
        match order.message.method() {
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe
                if order.party.revision.era() == Era::Legacy =>
            {
                Box::pin(self.subscribe(order))
            }
            _ => self.inner.exchange(order),
        }
    }

    fn notify(&self, party: PartyId, notification: Message) -> Promise<'_, ()> {
        self.inner.notify(party, notification)
    }

    fn set_level(&self, party: PartyId, level: Level) -> Promise<'_, ()> {
        self.inner.set_level(party, level)
    }

    fn leave(&self, party: PartyId) -> Promise<'_, ()> {
        self.wishes.forget(party);
        self.inner.leave(party)
    }

    fn control(&self, control: Control) {
        self.inner.control(control);
    }

    fn numbers(&self) -> Numbers {
        self.inner.numbers()
    }

    fn shut_down(&self) -> Promise<'_, ()> {
        self.inner.shut_down()
    }
}
