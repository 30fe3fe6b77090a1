//! Serves the parties of a connector with child processes.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use super::call::call;
use super::child::{Child, Means};
use super::children::Children;
use super::opening::Opening;
use crate::fault::Fault;
use crate::pipeline::Level;
use crate::pipeline::party::{Party, PartyId};
use crate::pipeline::port::{
    Answer, Control, File, FileOrder, Lender, Numbers, Order, Promise, Snapshot, Upstream, Variant,
};
use crate::protocol::{Era, Field, Id, Message, Method, Revision, splice};
use crate::upstream::authored::Hello;
use crate::upstream::era::{Route, found_out};
use crate::upstream::failure::Failure;
use crate::upstream::permission::{Permission, claimed};
use crate::upstream::renew;
use crate::upstream::rewrite;
use crate::upstream::settings::Sharing;
use crate::upstream::slot::Slot;
use crate::upstream::status::Status;
use crate::upstream::varying::offered;

/// A child may end between the moment it is found and the moment it is used; then another is started.
const TRIES: usize = 3;

/// A server of child processes.
#[derive(Debug)]
pub(in crate::upstream) struct StdioUpstream {
    children: Arc<Children>,
    status: Arc<Status>,
}

impl StdioUpstream {
    pub(in crate::upstream) fn new(children: Arc<Children>, status: Arc<Status>) -> Self {
        Self { children, status }
    }

    async fn serve(&self, order: &Order) -> Result<Answer, Failure> {
        self.status.usable()?;
        let answer = self.tried(order).await;
        if answer.is_err() {
            // Whoever was on the way when the operator took it out is told so, too.
            self.status.usable()?;
        }
        answer
    }

    async fn tried(&self, order: &Order) -> Result<Answer, Failure> {
        for _ in 0..TRIES {
            let (slot, child) = self.child(&order.party).await?;
            if child.era == Era::Legacy && self.children.sharing == Sharing::Session {
                renew::level(&*child, order).await;
            }
            match call(&child, order, slot.is_none()).await {
                Ok(answer) => return answer,
                Err(_closed) => {
                    if let Some(slot) = slot {
                        slot.forget(&child);
                    }
                }
            }
        }
        Err(Failure::broken(&self.children.spec.name, "ends again and again"))
    }

    async fn child(
        &self,
        party: &Arc<Party>,
    ) -> Result<(Option<Arc<Slot<Child>>>, Arc<Child>), Failure> {
        if self.children.sharing == Sharing::Connector {
            let (slot, child) = self.children.shared().await?;
            return Ok((Some(slot), child));
        }
        let limit = self.children.spec.limits.start;
        let mut route = self.children.era.route(party);
        if route == Route::Unknown {
            found_out(&self.children.era, &self.status, limit).await?;
            route = self.children.era.route(party);
        }
        let opening = match route {
            Route::Session | Route::Fresh => {
                Opening::Initialize(Hello::of(party, self.children.spec.asks))
            }
            Route::Stateless | Route::Translated | Route::Unknown => Opening::Modern,
        };
        if party.shared_by_strangers && party.revision.era() == Era::Modern {
            let child = match opening {
                Opening::Modern => self.children.fresh(Opening::Modern).await?,
                _ if self.offers_more(party) => {
                    let hello = Hello::of(party, self.children.spec.asks);
                    self.children.fresh_as(hello).await?
                }
                _ => self.children.fresh(Opening::Initialize(Hello::own())).await?,
            };
            return Ok((None, child));
        }
        match self.children.of_party(party, opening).await {
            Ok((slot, child)) => Ok((Some(slot), child)),
            Err(failure) if failure.refuses_handshake() && self.speaks_modern().await => {
                self.children.era.initialize(false);
                let (slot, child) = self.children.of_party(party, Opening::Modern).await?;
                Ok((Some(slot), child))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Whether it is known that the server offers something else to clients with the capabilities of this one.
    fn offers_more(&self, party: &Party) -> bool {
        let Some(declared) = party.capabilities.as_deref() else { return false };
        let claims = claimed(declared, self.children.spec.asks);
        let known = self.status.variants.known(claims.as_deref().unwrap_or(declared));
        let everybodys = self.status.offering().map(|(_, offering)| offering);
        known.zip(everybodys).is_some_and(|(known, everybodys)| *known != *everybodys)
    }

    async fn offers(&self, capabilities: &str) -> Variant {
        let everybodys = self.status.offering().map(|(_, offering)| offering);
        let era = everybodys.and_then(|offering| offering.revision).map(Revision::era);
        if !self.children.varies(era) {
            return Variant::Everybodys;
        }
        offered(&self.children, &self.children.spec.tracker, capabilities).await
    }

    async fn speaks_modern(&self) -> bool {
        let limit = self.children.spec.limits.start;
        let found = found_out(&self.children.era, &self.status, limit).await;
        found.is_ok_and(|speaks| speaks.modern == Some(true))
    }

    async fn forward(&self, party: PartyId, notification: Message) {
        let Some(child) = self.children.open(party) else { return };
        let text = match notification.method() {
            Method::Initialized => return,
            Method::Cancelled => {
                let request = notification.field(Field::RequestId).and_then(Id::parse);
                let number = request.and_then(|id| child.routes.number(party, &id));
                let Some(number) = number else { return };
                let span = notification.span(Field::RequestId);
                splice(notification.text(), &[(span, number.to_string().as_bytes())])
            }
            // What one client says of itself is not true of all who share a child.
            _ if self.children.sharing == Sharing::Connector => return,
            _ => notification.text().clone(),
        };
        self.write(&child, text).await;
    }

    async fn pass_on(&self, order: Order) {
        // What one client says is not true of all who share a child.
        let own = self.children.sharing == Sharing::Session;
        let child = self.children.open(order.party.id);
        if let Some(child) = child.filter(|child| own && child.era == Era::Modern) {
            let text = rewrite::claiming(&order.message, self.children.spec.asks);
            self.write(&child, text).await;
        }
    }

    async fn write(&self, child: &Child, text: Bytes) {
        let deadline = Instant::now() + self.children.spec.limits.open;
        if let Err(failure) = child.write(text, deadline).await {
            let upstream = &*self.children.spec.name;
            tracing::debug!(upstream, reason = &*failure.reason(), "a notification did not arrive");
        }
    }
}

impl Upstream for StdioUpstream {
    fn name(&self) -> &Arc<str> {
        self.status.name()
    }

    fn kind(&self) -> &'static str {
        match self.children.spec.means {
            Means::Process(_) => "stdio",
            Means::Channel(_) => "sse",
        }
    }

    fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.status.watch()
    }

    fn varies(&self) -> bool {
        true
    }

    fn variant<'a>(&'a self, capabilities: &'a str) -> Promise<'a, Variant> {
        Box::pin(self.offers(capabilities))
    }

    fn lends(&self) -> bool {
        false
    }

    fn variant_of<'a>(
        &'a self,
        capabilities: &'a str,
        _lender: Lender<'a>,
    ) -> Promise<'a, Variant> {
        self.variant(capabilities)
    }

    fn exchange(&self, order: Order) -> Promise<'_, Result<Answer, Fault>> {
        Box::pin(async move { self.serve(&order).await.map_err(|failure| failure.fault()) })
    }

    fn origins(&self) -> Option<&Arc<[Arc<str>]>> {
        None
    }

    fn file(&self, _order: FileOrder) -> Promise<'_, Result<Option<File>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn prepared(&self, party: &Arc<Party>, request: Bytes) -> Option<Message> {
        Permission::of(self.name(), self.children.spec.asks, party).prepare(&request).ok()
    }

    fn notify(&self, party: PartyId, notification: Message) -> Promise<'_, ()> {
        Box::pin(self.forward(party, notification))
    }

    fn tell(&self, order: Order) -> Promise<'_, ()> {
        Box::pin(self.pass_on(order))
    }

    fn set_level(&self, party: PartyId, level: Level) -> Promise<'_, ()> {
        Box::pin(async move {
            // What one client says of itself is not true of all who share a child.
            let own = self.children.sharing == Sharing::Session;
            let child = self.children.open(party).filter(|child| own && child.era == Era::Legacy);
            if let Some(child) = child {
                renew::set_level(&*child, level, false).await;
            }
        })
    }

    fn leave(&self, party: PartyId) -> Promise<'_, ()> {
        Box::pin(self.children.leave(party))
    }

    fn control(&self, control: Control) {
        match control {
            Control::Reconnect => self.status.bell.now(),
            Control::Enable => self.status.take_out(false),
            Control::Disable => {
                self.status.take_out(true);
                drop(self.children.spec.tracker.spawn(self.children.clear()));
            }
        }
    }

    fn numbers(&self) -> Numbers {
        self.status.tally.numbers(self.children.open_count() as u64)
    }

    fn shut_down(&self) -> Promise<'_, ()> {
        Box::pin(self.children.end())
    }
}
