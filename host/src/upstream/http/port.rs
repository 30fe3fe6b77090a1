//! The port of an HTTP server: what is asked of it besides requests, and its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryFutureExt as _;
use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::timeout;

use super::ask::{Reply, ask};
use super::exchange::HttpUpstream;
use super::request::{Head, Whose};
use super::session::Session;
use crate::fault::Fault;
use crate::pipeline::Level;
use crate::pipeline::party::{Party, PartyId};
use crate::pipeline::port::{
    Answer, Control, File, FileOrder, Lender, Numbers, Order, Promise, Snapshot, Upstream, Variant,
};
use crate::protocol::{Message, Method};
use crate::upstream::failure::Failure;
use crate::upstream::limits::GOODBYE;
use crate::upstream::permission::Permission;
use crate::upstream::renew;
use crate::upstream::rewrite;
use crate::upstream::varying::{offered, offered_to};

impl HttpUpstream {
    async fn forward(&self, party: PartyId, notification: Message) {
        let open = self.sessions.get(party).and_then(|slot| slot.current());
        let Some(session) = open else { return };
        if notification.method() == Method::Initialized {
            return;
        }
        let text = notification.text().clone();
        self.sent(ask(&self.endpoint, session.head(), text, None).await);
    }

    async fn pass_on(&self, order: Order) {
        let is_modern = self.era.get().modern == Some(true);
        if !is_modern || self.endpoint.status.usable().is_err() {
            return;
        }
        let text = rewrite::claiming(&order.message, self.endpoint.asks);
        let head = Head {
            whose: Whose::Caller(order.credential),
            extra: order.headers,
            ..Head::modern_method(&order.message.method_name())
        };
        self.sent(ask(&self.endpoint, head, text, None).await);
    }

    fn sent(&self, sent: Result<Reply, Failure>) {
        if let Err(failure) = sent {
            tracing::debug!(
                upstream = self.endpoint.name(),
                reason = &*failure.reason(),
                "a notification did not arrive"
            );
        }
    }

    async fn end(&self, party: PartyId) {
        let slot = self.sessions.remove(party);
        if let Some(session) = slot.and_then(|slot| slot.leave()) {
            session.close().await;
        }
    }

    /// Takes every session out; the future says goodbye to the server.
    fn end_all(&self) -> impl Future<Output = ()> + Send + 'static {
        let open: Vec<Arc<Session>> =
            self.sessions.drain().into_iter().filter_map(|slot| slot.leave()).collect();
        let name = Arc::clone(self.endpoint.status.name());
        async move {
            let goodbyes = open.iter().map(|session| session.close());
            if timeout(GOODBYE + Duration::from_secs(1), join_all(goodbyes)).await.is_err() {
                tracing::debug!(upstream = &*name, "sessions were left open");
            }
        }
    }
}

impl Upstream for HttpUpstream {
    fn name(&self) -> &Arc<str> {
        self.endpoint.status.name()
    }

    fn kind(&self) -> &'static str {
        "http"
    }

    fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.endpoint.status.watch()
    }

    fn varies(&self) -> bool {
        true
    }

    fn variant<'a>(&'a self, capabilities: &'a str) -> Promise<'a, Variant> {
        Box::pin(offered(&self.endpoint, &self.tracker, capabilities))
    }

    fn lends(&self) -> bool {
        self.endpoint.lends()
    }

    fn variant_of<'a>(&'a self, capabilities: &'a str, lender: Lender<'a>) -> Promise<'a, Variant> {
        Box::pin(offered_to(&self.endpoint, &self.tracker, capabilities, lender))
    }

    fn exchange(&self, order: Order) -> Promise<'_, Result<Answer, Fault>> {
        Box::pin(self.serve(order).map_err(|failure| failure.fault()))
    }

    fn origins(&self) -> Option<&Arc<[Arc<str>]>> {
        let files = &self.endpoint.files;
        // What a server offers to callers only is not known here; there it is the caller's own credential that fetches.
        let gives =
            files.are_announced() || self.endpoint.status.runs_code() || self.endpoint.lends();
        gives.then(|| files.names())
    }

    fn file(&self, order: FileOrder) -> Promise<'_, Result<Option<File>, Fault>> {
        Box::pin(self.fetch(order).map_err(|failure| failure.fault()))
    }

    fn prepared(&self, party: &Arc<Party>, request: Bytes) -> Option<Message> {
        Permission::of(self.name(), self.endpoint.asks, party).prepare(&request).ok()
    }

    fn notify(&self, party: PartyId, notification: Message) -> Promise<'_, ()> {
        Box::pin(self.forward(party, notification))
    }

    fn tell(&self, order: Order) -> Promise<'_, ()> {
        Box::pin(self.pass_on(order))
    }

    fn set_level(&self, party: PartyId, level: Level) -> Promise<'_, ()> {
        Box::pin(async move {
            let open = self.sessions.get(party).and_then(|slot| slot.current());
            if let Some(session) = open {
                renew::set_level(&*session, level, false).await;
            }
        })
    }

    fn leave(&self, party: PartyId) -> Promise<'_, ()> {
        Box::pin(self.end(party))
    }

    fn control(&self, control: Control) {
        let status = &self.endpoint.status;
        match control {
            Control::Reconnect => status.bell.now(),
            Control::Enable => status.take_out(false),
            Control::Disable => {
                status.take_out(true);
                drop(self.tracker.spawn(self.end_all()));
            }
        }
    }

    fn numbers(&self) -> Numbers {
        let sessions = self.seats.load(Ordering::Relaxed) as u64;
        self.endpoint.status.tally.numbers(sessions)
    }

    fn shut_down(&self) -> Promise<'_, ()> {
        Box::pin(self.end_all())
    }
}
