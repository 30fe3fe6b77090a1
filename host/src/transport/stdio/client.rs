//! The one client: takes its messages and answers them.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use http::HeaderMap;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answers;
use super::flights::{Flight, Flights};
use super::output::Output;
use super::serve::Place;
use super::start::Start;
use crate::fault::{Code, Fault};
use crate::pipeline::port::Answer;
use crate::pipeline::{Caller, RequestId, answer};
use crate::protocol::{Era, Field, Id, Kind, Malformed, Message, Method};
use crate::session::{PartyGuard, Session};
use crate::telemetry::Outcome;
use crate::transport::reply::{self, Asked};
use crate::transport::site::Site;
use crate::transport::visitor::Visitor;
use crate::transport::{batch, handover, legacy, modern, post};

/// Requests in flight; one more is refused.
const REQUESTS: usize = 64;
/// How long a server may take to be told that a request was given up.
const CANCEL: Duration = Duration::from_secs(2);

/// Who started this process, and what is remembered of them.
pub(super) struct Client {
    place: Place,
    caller: Arc<Caller>,
    /// Keeps what servers hold for modern requests: however long they pause, they are of one caller.
    _party: Option<PartyGuard>,
    /// The session of the legacy era.
    session: OnceLock<Arc<Session>>,
    flights: Arc<Flights>,
    permits: Arc<Semaphore>,
    start: Start,
    output: Output,
    /// Ends requests in flight and what reads the outbox.
    quit: CancellationToken,
    /// Requests in flight.
    pub(super) tasks: TaskTracker,
}

impl Client {
    pub(super) fn new(place: Place, start: Start, output: Output, quit: CancellationToken) -> Self {
        let caller = Arc::new(local_caller());
        let site = place.site.load();
        let party = place
            .endpoint(&site)
            .and_then(|endpoint| site.sessions.enter(&endpoint.connector.name, &caller).ok());
        drop(site);
        Self {
            place,
            caller,
            _party: party,
            session: OnceLock::new(),
            flights: Arc::default(),
            permits: Arc::new(Semaphore::new(REQUESTS)),
            start,
            output,
            quit,
            tasks: TaskTracker::new(),
        }
    }

    /// Takes the text of a line.
    pub(super) async fn take(self: &Arc<Self>, text: Bytes) {
        if text.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match Message::parse(text.clone()) {
            Ok(message) => match message.kind() {
                Kind::Request => self.request(message).await,
                Kind::Notification => self.note(message).await,
                Kind::Response => self.answered(&message),
            },
            Err(Malformed::Batch) => self.batch(&text).await,
            Err(error) => {
                let id = Id::within(&text);
                let asked = Asked { id: id.as_ref(), ..nothing_known() };
                self.refuse(&post::malformed(&error), asked).await;
            }
        }
    }

    /// The line was longer than the limit.
    pub(super) async fn too_long(&self, limit: usize) {
        let text = format!("The message is larger than {limit} bytes.");
        self.refuse(&Fault::new(Code::BodyTooLarge, text), nothing_known()).await;
    }

    async fn refuse(&self, fault: &Fault, asked: Asked<'_>) {
        self.place.site.load().counts.fault(fault);
        self.output.send(reply::fault_body(fault, asked)).await;
    }

    async fn note(&self, message: Message) {
        let id = message.field(Field::RequestId).and_then(Id::parse);
        if message.method() == Method::Cancelled {
            if let Some(id) = id {
                self.flights.cancel(&id, message);
            }
            return;
        }
        let Some(session) = self.session.get().cloned() else { return };
        // In the order in which they come: a server must not hear of a later one first.
        let site = self.place.site.load_full();
        if let Some(endpoint) = self.place.endpoint(&site) {
            session.notify(&endpoint.connector, message).await;
        }
    }

    /// Takes the client's answer to a server's request.
    fn answered(&self, response: &Message) {
        if !self.session.get().is_some_and(|session| session.asks.answer(response)) {
            tracing::debug!("a response to a request that nobody made, or that was given up");
        }
    }

    /// Passes a cancellation on to the server that has the request.
    async fn pass_on(&self, id: &Id, notification: Message) {
        // In the modern era a server is told by the end of the work.
        if let Some(session) = self.session.get()
            && timeout(CANCEL, session.cancel(id, notification)).await.is_err()
        {
            tracing::debug!("a server was not told in time that a request was given up");
        }
    }

    async fn request(self: &Arc<Self>, message: Message) {
        let Some(id) = message.id().cloned() else { return };
        let (request_id, era, method) = (RequestId::next(), era(&message), message.method());
        let asked = Asked { request_id, era, method, id: Some(&id) };
        if (era, method) == (Era::Legacy, Method::Initialize) {
            return self.initialize(&message, asked).await;
        }
        let begun = self.begin(&id);
        let (permit, flight) = match begun {
            Ok(begun) => begun,
            Err(fault) => return self.refuse(&fault, asked).await,
        };
        let client = Arc::clone(self);
        self.tasks.spawn(async move {
            let answering = client.answer(message, &id, request_id);
            let flying = flight.run(answering, |note| client.pass_on(&id, note));
            let flying = Box::pin(flying);
            client.quit.run_until_cancelled(flying).await;
            drop(permit);
        });
    }

    fn begin(&self, id: &Id) -> Result<(tokio::sync::OwnedSemaphorePermit, Flight), Fault> {
        let permit = self.permits.clone().try_acquire_owned().map_err(|_full| overloaded())?;
        Ok((permit, self.flights.begin(id)?))
    }

    /// The handshake is answered before anything that follows it is read.
    async fn initialize(self: &Arc<Self>, message: &Message, asked: Asked<'_>) {
        let start = Instant::now();
        self.start.wait(Method::Initialize).await;
        let site = self.place.site.load_full();
        let opened = self.open(&site, message).await;
        site.counts.request(asked.method, outcome(&opened), start.elapsed());
        let sent = match opened {
            Ok(answer) => answers::send(answer, &self.output, handover::stateless).await,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = sent {
            self.refuse(&fault, asked).await;
        }
    }

    async fn open(self: &Arc<Self>, site: &Site, message: &Message) -> Result<Answer, Fault> {
        if self.session.get().is_some() {
            let text =
                "This process is initialized already: it has one session for its whole life.";
            return Err(Fault::new(Code::InvalidRequest, text));
        }
        let (session, answer) = legacy::open(site, &self.visitor(site)?, message).await?;
        let session = self.session.get_or_init(|| session);
        let (listener, output) = (session.outbox.listen(), self.output.clone());
        let (quit, kept) = (self.quit.clone(), Arc::clone(session));
        self.tasks.spawn(async move {
            let pump = async {
                while let Some(waiting) = listener.next().await {
                    if let Some(text) = handover::waiting(&kept, waiting) {
                        output.send(text).await;
                    }
                }
            };
            quit.run_until_cancelled(pump).await;
        });
        Ok(answer)
    }

    /// Serves a request and sends its answer.
    async fn answer(&self, message: Message, id: &Id, request_id: RequestId) {
        let start = Instant::now();
        let (era, method) = (era(&message), message.method());
        self.start.wait(method).await;
        let site = self.place.site.load_full();
        let served = self.serve(&site, message, id, request_id).await;
        site.counts.request(method, outcome(&served), start.elapsed());
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
        if let Err(fault) = sent {
            self.refuse(&fault, Asked { request_id, era, method, id: Some(id) }).await;
        }
    }

    async fn serve(
        &self,
        site: &Site,
        message: Message,
        id: &Id,
        request_id: RequestId,
    ) -> Result<Answer, Fault> {
        let (visitor, head) = (self.visitor(site)?, HeaderMap::new());
        if era(&message) == Era::Modern {
            modern::check_meta(&message)?;
            return modern::ask(site, &visitor, head, message, request_id).await;
        }
        match self.session.get() {
            Some(session) => {
                legacy::request((&visitor, session), head, message, id, request_id).await
            }
            None if message.method() == Method::Ping => Ok(answer::result(id, b"{}")),
            None => Err(not_initialized()),
        }
    }

    /// Answers a batch of revision 2025-03-26 with one line.
    async fn batch(self: &Arc<Self>, text: &Bytes) {
        let split = self.session.get().ok_or_else(not_initialized).and_then(|session| {
            let messages = batch::split(session, text)?;
            let count = u32::try_from(messages.len()).unwrap_or(u32::MAX);
            let permits = self.permits.clone().try_acquire_many_owned(count);
            Ok((Arc::clone(session), messages, permits.map_err(|_full| overloaded())?))
        });
        let (session, messages, permits) = match split {
            Ok(split) => split,
            Err(fault) => return self.refuse(&fault, nothing_known()).await,
        };
        let client = Arc::clone(self);
        self.tasks.spawn(async move {
            let parts = messages.into_iter().map(|message| client.part(&session, message));
            let answers = client.quit.run_until_cancelled(join_all(parts)).await;
            let answers: Vec<Bytes> = answers.into_iter().flatten().flatten().collect();
            if !answers.is_empty() {
                client.output.send(batch::array(&answers)).await;
            }
            drop(permits);
        });
    }

    /// Takes one message of a batch; its response, where it asks for one and is not given up.
    async fn part(&self, session: &Arc<Session>, message: Message) -> Option<Bytes> {
        let Some(id) = message.id().cloned().filter(|_| message.kind() == Kind::Request) else {
            self.note(message).await;
            return None;
        };
        self.start.wait(message.method()).await;
        let site = self.place.site.load_full();
        let begun = self.visitor(&site).and_then(|found| Ok((found, self.flights.begin(&id)?)));
        let (visitor, flight) = match begun {
            Ok(begun) => begun,
            Err(fault) => {
                let (request_id, method) = (RequestId::next(), message.method());
                site.counts.fault(&fault);
                let asked = Asked { request_id, era: Era::Legacy, method, id: Some(&id) };
                return Some(reply::fault_body(&fault, asked));
            }
        };
        let answering = batch::answer(&site, (&visitor, session), HeaderMap::new(), message);
        Box::pin(flight.run(answering, |note| self.pass_on(&id, note))).await.flatten()
    }

    /// Nothing that belongs to no request is sent any more.
    pub(super) fn close_outbox(&self) {
        if let Some(session) = self.session.get() {
            session.outbox.close();
        }
    }

    /// The client, where it is served now.
    fn visitor<'a>(&self, site: &'a Site) -> Result<Visitor<'a>, Fault> {
        let endpoint = self.place.endpoint(site).ok_or_else(|| {
            Fault::new(Code::UnknownPath, "The connector that this process serves is gone.")
        })?;
        Ok(Visitor { endpoint, caller: Some(Arc::clone(&self.caller)), credential: None })
    }
}

/// The user who started this process.
fn local_caller() -> Caller {
    Caller { display: "stdio".into(), anonymous: false, ..Caller::anonymous("stdio") }
}

/// The era of a message: nothing but its `_meta` tells it.
fn era(message: &Message) -> Era {
    match message.field(Field::MetaProtocolVersion) {
        Some(_) => Era::Modern,
        None => Era::Legacy,
    }
}

fn outcome<T>(served: &Result<T, Fault>) -> Outcome {
    if served.is_ok() { Outcome::Answered } else { Outcome::Failed }
}

fn nothing_known() -> Asked<'static> {
    Asked::unknown(RequestId::next())
}

fn overloaded() -> Fault {
    let text = format!("This process has {REQUESTS} requests in flight: wait for answers.");
    Fault::new(Code::Overloaded, text)
}

fn not_initialized() -> Fault {
    let text = "There is no session: initialize first, or send requests of revision 2026-07-28.";
    Fault::new(Code::SessionMissing, text)
}
