//! An upstream that remembers what its parties subscribed to.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::observed::on_result;
use super::own::{self, Followers};
use super::{emulated, steady};
use crate::fault::Fault;
use crate::pipeline::Level;
use crate::pipeline::party::{Party, PartyId};
use crate::pipeline::port::{
    Answer, Control, File, FileOrder, Lender, Numbers, Order, Promise, Snapshot, Upstream, Variant,
};
use crate::protocol::{Era, Field, Message, Method};
use crate::upstream::era::{EraCell, Route, found_out};
use crate::upstream::failure::Failure;
use crate::upstream::status::Status;
use crate::upstream::wishes::Wishes;

/// An upstream of either transport. Everything but subscriptions is the transport's.
pub(in crate::upstream) struct Subscriber(Arc<Core>);

/// What stands around a transport, too.
pub(in crate::upstream) struct Around {
    /// Repeated by the transport whenever it opens a session.
    pub(in crate::upstream) wishes: Arc<Wishes>,
    pub(in crate::upstream) era: Arc<EraCell>,
    pub(in crate::upstream) status: Arc<Status>,
    /// How long the era may take to be found out.
    pub(in crate::upstream) patience: Duration,
    /// Whether parties share one session, in which they cannot be told apart.
    pub(in crate::upstream) shared: bool,
    pub(in crate::upstream) tracker: TaskTracker,
}

/// What subscriptions share.
pub(super) struct Core {
    pub(super) inner: Arc<dyn Upstream>,
    pub(super) around: Around,
    pub(super) followers: Followers,
    pub(super) tracker: TaskTracker,
    /// Ends every subscription.
    pub(super) over: CancellationToken,
}

impl Subscriber {
    /// Around this transport.
    pub(in crate::upstream) fn new(inner: Arc<dyn Upstream>, around: Around) -> Self {
        let (tracker, over) = (around.tracker.clone(), CancellationToken::new());
        let followers = Followers::new();
        Self(Arc::new(Core { inner, around, followers, tracker, over }))
    }
}

impl Core {
    /// `resources/subscribe` and `resources/unsubscribe` of a client of the legacy era.
    async fn subscribe(self: Arc<Self>, order: Order) -> Result<Answer, Fault> {
        if !self.is_modern_to(&order) {
            let answer = self.in_session(order.clone()).await?;
            if !self.is_modern_to(&order) {
                return Ok(answer);
            }
            // The session that was to be opened was refused: there are none at this server.
        }
        own::subscribe(&self, order).await
    }

    /// Whether the server speaks no era with sessions, as far as is known.
    fn is_modern_to(&self, order: &Order) -> bool {
        let Around { era, shared, .. } = &self.around;
        era.route(&order.party) == Route::Translated || (*shared && era.get().modern == Some(true))
    }

    /// The same in a session.
    pub(super) async fn in_session(&self, order: Order) -> Result<Answer, Fault> {
        let (party, uri) = (order.party.id, order.message.string(Field::Uri).map(Arc::<str>::from));
        let Some(uri) = uri else { return self.inner.exchange(order).await };
        let wishes = Arc::clone(&self.around.wishes);
        if order.message.method() == Method::ResourcesUnsubscribe {
            wishes.remove(party, &uri);
            return self.inner.exchange(order).await;
        }
        if self.around.shared {
            // Its updates would reach all who share it, or nobody.
            return Err(Failure::shared(self.inner.name()).fault());
        }
        wishes.check(party, &uri).map_err(|failure| failure.fault())?;
        let answer = self.inner.exchange(order).await?;
        Ok(on_result(answer, move || {
            if let Err(full) = wishes.add(party, &uri) {
                tracing::debug!(reason = &*full.reason(), "a subscription is not remembered");
            }
        }))
    }

    async fn listen(self: Arc<Self>, order: Order) -> Result<Answer, Fault> {
        let Around { era, status, patience, .. } = &self.around;
        let found = found_out(era, status, *patience).await.map_err(|failure| failure.fault())?;
        if found.modern == Some(true) {
            return steady::listen(Arc::clone(&self.inner), order, self.over.clone()).await;
        }
        Ok(emulated::listen(self, order).await)
    }

    /// The party is gone.
    pub(super) fn leave(&self, party: PartyId) -> Promise<'_, ()> {
        self.followers.remove(&party);
        self.around.wishes.forget(party);
        self.inner.leave(party)
    }
}

impl Upstream for Subscriber {
    fn name(&self) -> &Arc<str> {
        self.0.inner.name()
    }

    fn kind(&self) -> &'static str {
        self.0.inner.kind()
    }

    fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.0.inner.watch()
    }

    fn varies(&self) -> bool {
        self.0.inner.varies()
    }

    fn variant<'a>(&'a self, capabilities: &'a str) -> Promise<'a, Variant> {
        self.0.inner.variant(capabilities)
    }

    fn lends(&self) -> bool {
        self.0.inner.lends()
    }

    fn variant_of<'a>(&'a self, capabilities: &'a str, lender: Lender<'a>) -> Promise<'a, Variant> {
        self.0.inner.variant_of(capabilities, lender)
    }

    fn exchange(&self, order: Order) -> Promise<'_, Result<Answer, Fault>> {
        match order.message.method() {
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe
                if order.party.revision.era() == Era::Legacy =>
            {
                Box::pin(Arc::clone(&self.0).subscribe(order))
            }
            Method::SubscriptionsListen => Box::pin(Arc::clone(&self.0).listen(order)),
            _ => self.0.inner.exchange(order),
        }
    }

    fn origins(&self) -> Option<&Arc<[Arc<str>]>> {
        self.0.inner.origins()
    }

    fn file(&self, order: FileOrder) -> Promise<'_, Result<Option<File>, Fault>> {
        self.0.inner.file(order)
    }

    fn prepared(&self, party: &Arc<Party>, request: Bytes) -> Option<Message> {
        self.0.inner.prepared(party, request)
    }

    fn notify(&self, party: PartyId, notification: Message) -> Promise<'_, ()> {
        self.0.inner.notify(party, notification)
    }

    fn tell(&self, order: Order) -> Promise<'_, ()> {
        self.0.inner.tell(order)
    }

    fn set_level(&self, party: PartyId, level: Level) -> Promise<'_, ()> {
        self.0.inner.set_level(party, level)
    }

    fn leave(&self, party: PartyId) -> Promise<'_, ()> {
        self.0.leave(party)
    }

    fn control(&self, control: Control) {
        self.0.inner.control(control);
    }

    fn numbers(&self) -> Numbers {
        self.0.inner.numbers()
    }

    fn shut_down(&self) -> Promise<'_, ()> {
        self.0.over.cancel();
        self.0.inner.shut_down()
    }
}
