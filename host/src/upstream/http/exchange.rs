//! Serves the parties of a connector at an HTTP server.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

use super::answer::{Call, Outcome};
use super::body::{Pace, Sent};
use super::endpoint::Endpoint;
use super::hold::Hold;
use super::probe::probe_as;
use super::request::{Head, Whose, post};
use super::respond::Respondent;
use super::session::{Seat, Session};
use super::translated::Translated;
use super::unasked::{hear, heard};
use crate::pipeline::party::Party;
use crate::pipeline::port::{Answer, Order};
use crate::protocol::{Era, Id, Message, Method};
use crate::upstream::authored::Hello;
use crate::upstream::era::{EraCell, Route, found_out};
use crate::upstream::failure::Failure;
use crate::upstream::permission::Permission;
use crate::upstream::renew;
use crate::upstream::rewrite::{self, Change};
use crate::upstream::sessions::Sessions;
use crate::upstream::slot::Slot;
use crate::upstream::wishes::Wishes;

/// A server behind HTTP.
#[derive(Debug)]
pub(in crate::upstream) struct HttpUpstream {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) era: Arc<EraCell>,
    pub(super) sessions: Sessions<Session>,
    pub(super) seats: Arc<AtomicUsize>,
    /// What parties subscribed to: a session in the place of another is told.
    wishes: Arc<Wishes>,
    pub(super) tracker: TaskTracker,
}

impl HttpUpstream {
    pub(in crate::upstream) fn new(
        endpoint: Arc<Endpoint>,
        era: Arc<EraCell>,
        wishes: Arc<Wishes>,
        tracker: TaskTracker,
    ) -> Self {
        let sessions = Sessions::new(endpoint.limits.sessions);
        Self { endpoint, era, sessions, seats: Arc::default(), wishes, tracker }
    }

    pub(super) async fn serve(&self, order: Order) -> Result<Answer, Failure> {
        self.endpoint.status.usable()?;
        let answer = self.routed(order).await;
        if answer.is_err() {
            // Whoever was on the way when the operator took it out is told so, too.
            self.endpoint.status.usable()?;
        }
        answer
    }

    /// What is rare is boxed, here and below, so that what is not stays small.
    async fn routed(&self, order: Order) -> Result<Answer, Failure> {
        let pace = self.pace(&order.message);
        let mut route = self.era.route(&order.party);
        if route == Route::Unknown {
            Box::pin(self.found_out(&order)).await?;
            route = self.era.route(&order.party);
        }
        match route {
            Route::Session => self.in_session(order, pace).await,
            Route::Fresh => Box::pin(self.in_fresh_session(order, pace)).await,
            Route::Stateless => self.stateless(order, pace, false).await,
            Route::Translated => self.stateless(order, pace, true).await,
            Route::Unknown => Err(Failure::unavailable(self.endpoint.name())),
        }
    }

    /// Waits for plugway to find out the era; where it is not answered itself, it is found out with the caller's credential.
    async fn found_out(&self, order: &Order) -> Result<(), Failure> {
        let known = self.endpoint.status.offering();
        if known.is_none_or(|(_, offering)| offering.veiled.is_none()) {
            let limit = self.endpoint.limits.open;
            return found_out(&self.era, &self.endpoint.status, limit).await.map(drop);
        }
        let whose = Whose::Caller(order.credential.clone());
        if order.credential.is_none() {
            return Err(self.endpoint.refused(&whose));
        }
        probe_as(&self.endpoint, whose).await.map(drop)
    }

    fn pace(&self, message: &Message) -> Pace {
        let limits = &self.endpoint.limits;
        let endless = message.method() == Method::SubscriptionsListen;
        let deadline = (!endless).then(|| Instant::now() + limits.call);
        Pace { deadline, call: limits.call, stall: Some(limits.stall) }
    }

    async fn in_session(&self, order: Order, pace: Pace) -> Result<Answer, Failure> {
        let limit = self.endpoint.limits.sessions;
        let slot = self.sessions.slot(order.party.id);
        let slot = slot.ok_or_else(|| Failure::sessions(self.endpoint.name(), limit))?;
        let session = match self.open(&slot, &order).await {
            Ok(session) => session,
            Err(failure) if failure.refuses_handshake() => {
                if !Box::pin(self.speaks_modern()).await {
                    return Err(failure);
                }
                self.era.initialize(false);
                return Box::pin(self.stateless(order, pace, true)).await;
            }
            Err(failure) => return Err(failure),
        };
        if let Some(opening) = self.hear(&session, &order.party) {
            Box::pin(heard(&order.party, opening)).await;
        }
        if let Outcome::Answer(answer) = self.call(&order, &session, pace, false).await? {
            return Ok(answer);
        }
        session.lost();
        slot.forget(&session);
        Box::pin(self.again(order, pace, slot)).await
    }

    /// The server forgot the session, so it did not start the request. Whoever comes first opens a new one.
    async fn again(
        &self,
        order: Order,
        pace: Pace,
        slot: Arc<Slot<Session>>,
    ) -> Result<Answer, Failure> {
        let session = self.open(&slot, &order).await?;
        if let Some(opening) = self.hear(&session, &order.party) {
            Box::pin(heard(&order.party, opening)).await;
        }
        match self.call(&order, &session, pace, false).await? {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::SessionGone => {
                session.lost();
                slot.forget(&session);
                Err(Failure::broken(
                    self.endpoint.name(),
                    "forgets the session that it just opened",
                ))
            }
        }
    }

    async fn in_fresh_session(&self, order: Order, pace: Pace) -> Result<Answer, Failure> {
        let opening = self.opening(&order);
        let session = Arc::new(opening.await?);
        match self.call(&order, &session, pace, true).await? {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::SessionGone => {
                session.lost();
                Err(Failure::broken(
                    self.endpoint.name(),
                    "forgets the session that it just opened",
                ))
            }
        }
    }

    async fn call(
        &self,
        order: &Order,
        session: &Arc<Session>,
        pace: Pace,
        fresh: bool,
    ) -> Result<Outcome, Failure> {
        let legacy = order.party.revision.era() == Era::Legacy;
        let asked = id(&order.message);
        let number = (!legacy).then(|| session.number());
        let (name, id, without_context) = (order.name.as_deref(), number, !legacy);
        let change = Change { name, without_context, id, ..Change::default() };
        let text = rewrite::request(&order.message, change);
        session.renew(order.credential.as_ref());
        renew::level(&**session, order).await;
        let sent = number.map_or_else(|| asked.clone(), Id::number);
        let (endpoint, kept) = (Arc::clone(&self.endpoint), Arc::clone(session));
        let hold = match (fresh, legacy) {
            (true, _) => Hold::fresh(kept),
            (false, true) => Hold::patient(endpoint, kept, sent.clone()),
            (false, false) => Hold::cancelling(endpoint, kept, sent.clone()),
        };
        let permission =
            Permission::of(self.endpoint.status.name(), self.endpoint.asks, &order.party);
        let weak = Arc::downgrade(session);
        let call = Call {
            endpoint: Arc::clone(&self.endpoint),
            id: sent,
            respondent: Respondent::client(&self.endpoint, weak.clone(), permission),
            session: Some(weak),
            head: session.head(),
            pace,
            drainer: legacy.then(|| Arc::clone(&self.endpoint.drainer)),
            hold: hold.counted(self.endpoint.status.tally.request()),
            translated: (!legacy).then(|| Translated { method: order.message.method(), id: asked }),
        };
        let head = Head { extra: order.headers.clone(), ..session.head() };
        send(call, head, text).await
    }

    async fn open(
        &self,
        slot: &Arc<Slot<Session>>,
        order: &Order,
    ) -> Result<Arc<Session>, Failure> {
        if let Some(session) = slot.current() {
            return Ok(session);
        }
        Box::pin(slot.acquire(&self.tracker, || self.opening(order))).await
    }

    fn opening(
        &self,
        order: &Order,
    ) -> impl Future<Output = Result<Session, Failure>> + Send + 'static {
        let endpoint = Arc::clone(&self.endpoint);
        let hello = Hello::of(&order.party, endpoint.asks);
        let whose = Whose::Caller(order.credential.clone());
        let seat = Seat::take(&self.seats, endpoint.limits.sessions);
        let (party, uris) = (Arc::clone(&order.party), self.wishes.of(order.party.id));
        async move {
            let Some(seat) = seat else {
                return Err(Failure::sessions(endpoint.name(), endpoint.limits.sessions));
            };
            let session = Session::open(endpoint, hello, whose, Some(seat)).await?;
            renew::whole(&session, &party, uris).await;
            Ok(session)
        }
    }

    /// What the server says in a session of the legacy era outside of calls is heard from the first call on.
    fn hear(&self, session: &Arc<Session>, party: &Arc<Party>) -> Option<oneshot::Receiver<()>> {
        if party.revision.era() == Era::Modern {
            return None;
        }
        let ended = session.first_heard()?;
        let (opening, opened) = oneshot::channel();
        let (endpoint, party) = (Arc::clone(&self.endpoint), Arc::clone(party));
        let hearing = hear(endpoint, Arc::downgrade(session), party, (ended, opening));
        drop(self.tracker.spawn(hearing));
        Some(opened)
    }

    async fn speaks_modern(&self) -> bool {
        let limit = self.endpoint.limits.open;
        let found = found_out(&self.era, &self.endpoint.status, limit).await;
        found.is_ok_and(|speaks| speaks.modern == Some(true))
    }
}

pub(super) async fn send(mut call: Call, head: Head, text: Bytes) -> Result<Outcome, Failure> {
    let request = post(&call.endpoint, head, text);
    let sent = Sent::new(call.endpoint.send(request), call.drainer.clone());
    let response = match call.pace.deadline {
        None => sent.await,
        Some(deadline) => match timeout_at(deadline, sent).await {
            Ok(response) => response,
            Err(_elapsed) => {
                let failure = Failure::timeout(call.endpoint.name(), call.pace.call);
                return call.hold.noted(Err(failure));
            }
        },
    };
    match response {
        Ok(response) => call.read(response).await,
        Err(error) => Err(call.endpoint.failure(&error)),
    }
}

/// The id of a request; the pipeline sends nothing else here.
pub(super) fn id(message: &Message) -> Id {
    message.id().cloned().unwrap_or_else(|| Id::number(0))
}
