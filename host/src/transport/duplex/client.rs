//! One client at the other end of a channel: takes its messages and answers them.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderValue};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answers;
use super::flights::Flights;
use super::output::Output;
use super::start::Start;
use crate::fault::{Code, Fault};
use crate::pipeline::port::Answer;
use crate::pipeline::{Caller, Filters, RequestId};
use crate::protocol::{Era, Field, Id, Kind, Malformed, Message, Method};
use crate::session::{PartyGuard, Session};
use crate::telemetry::Outcome;
use crate::transport::reply::{self, Asked};
use crate::transport::site::Site;
use crate::transport::visitor::Visitor;
use crate::transport::{handover, legacy, modern, post};

/// Requests in flight; one more is refused.
const REQUESTS: usize = 64;
/// How long a server may take to be told that a request was given up.
const CANCEL: Duration = Duration::from_secs(2);

/// Who is at the other end, and what is remembered of them.
pub(in crate::transport) struct Client {
    pub(super) connector: Arc<str>,
    /// Keeps what servers hold for modern requests: however long they pause, they are of one caller.
    _party: Option<PartyGuard>,
    /// The session of the legacy era.
    pub(super) session: OnceLock<Arc<Session>>,
    pub(super) flights: Arc<Flights>,
    pub(super) permits: Arc<Semaphore>,
    pub(super) start: Start,
    pub(super) output: Output,
    /// Ends requests in flight and what reads the outbox.
    pub(super) quit: CancellationToken,
    /// Requests in flight.
    pub(in crate::transport) tasks: TaskTracker,
}

/// What is known of whoever sent a message, and what is served at that moment.
#[derive(Clone)]
pub(in crate::transport) struct Sender {
    pub(in crate::transport) site: Arc<Site>,
    /// None = nobody in particular, and that is allowed.
    pub(in crate::transport) caller: Option<Arc<Caller>>,
    /// What the client identified itself with, for upstreams that it is forwarded to.
    pub(in crate::transport) credential: Option<HeaderValue>,
    /// What the request says about what is to be shown, where it came over HTTP.
    pub(in crate::transport) filters: Option<Arc<Filters>>,
    /// What the client calls plugway, where it came over HTTP.
    pub(in crate::transport) host: Option<HeaderValue>,
}

impl Sender {
    /// What is known of the client's headers.
    pub(super) fn head(&self) -> HeaderMap {
        self.host.iter().map(|host| (HOST, host.clone())).collect()
    }

    /// The sender as a visitor of the connector, where that is still served.
    pub(super) fn visitor(&self, connector: &str) -> Result<Visitor<'_>, Fault> {
        let endpoint = self.site.endpoint(connector).ok_or_else(|| {
            Fault::new(
                Code::UnknownPath,
                "The server that is connected here is not served any more.",
            )
        })?;
        let (caller, credential) = (self.caller.clone(), self.credential.clone());
        Ok(Visitor { endpoint, caller, credential, filters: self.filters.clone() })
    }
}

impl Client {
    /// `quit` ends what it does; dropping the other end of `output` says that nobody reads any more.
    pub(in crate::transport) fn new(
        connector: Arc<str>,
        sender: &Sender,
        start: Start,
        output: Output,
        quit: CancellationToken,
    ) -> Self {
        let caller = sender.caller.as_ref();
        let party = caller.and_then(|caller| sender.site.sessions.enter(&connector, caller).ok());
        Self {
            connector,
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

    /// Takes the text of one message. Requests are answered beside, but for the handshake.
    pub(in crate::transport) async fn take(self: &Arc<Self>, sender: Sender, text: Bytes) {
        if text.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match Message::parse(text.clone()) {
            Ok(message) => match message.kind() {
                Kind::Request => self.request(sender, message).await,
                Kind::Notification => self.note(&sender, message).await,
                Kind::Response => self.answered(&message),
            },
            Err(Malformed::Batch) => self.batch(sender, &text).await,
            Err(error) => {
                let id = Id::within(&text);
                let asked = Asked { id: id.as_ref(), ..nothing_known() };
                self.refuse(&sender.site, &post::malformed(&error), asked).await;
            }
        }
    }

    /// The message was longer than the limit.
    pub(in crate::transport) async fn too_long(&self, site: &Site, limit: usize) {
        let text = format!("The message is larger than {limit} bytes.");
        self.refuse(site, &Fault::new(Code::BodyTooLarge, text), nothing_known()).await;
    }

    pub(super) async fn refuse(&self, site: &Site, fault: &Fault, asked: Asked<'_>) {
        site.counts.fault(fault);
        self.output.send(reply::fault_body(fault, asked)).await;
    }

    /// Takes a notification, in the order in which they come: a server must not hear of a later one first.
    pub(super) async fn note(&self, sender: &Sender, message: Message) {
        if message.method() == Method::Cancelled {
            if let Some(id) = message.field(Field::RequestId).and_then(Id::parse) {
                self.flights.cancel(&id, message);
            }
            return;
        }
        let Ok(visitor) = sender.visitor(&self.connector) else { return };
        match self.session.get().filter(|_| era(&message) == Era::Legacy) {
            Some(session) => session.notify(&visitor.endpoint.connector, message).await,
            // Whoever opened no session needs none.
            None => self.tell(sender, &visitor, message).await,
        }
    }

    async fn tell(&self, sender: &Sender, visitor: &Visitor<'_>, message: Message) {
        let (head, id) = (HeaderMap::new(), RequestId::next());
        let told = async {
            modern::check_meta(&message)?;
            Box::pin(modern::tell(&sender.site, visitor, head, message, id)).await
        };
        // Nobody waits for an answer to a notification.
        if let Err(fault) = told.await {
            sender.site.counts.fault(&fault);
        }
    }

    /// Takes the client's answer to a server's request.
    pub(super) fn answered(&self, response: &Message) {
        if !self.session.get().is_some_and(|session| session.asks.answer(response)) {
            tracing::debug!("a response to a request that nobody made, or that was given up");
        }
    }

    /// Passes a cancellation on to the server that has the request.
    pub(super) async fn pass_on(&self, id: &Id, notification: Message) {
        // In the modern era a server is told by the end of the work.
        if let Some(session) = self.session.get()
            && timeout(CANCEL, session.cancel(id, notification)).await.is_err()
        {
            tracing::debug!("a server was not told in time that a request was given up");
        }
    }

    /// The handshake is answered before anything that follows it is taken.
    pub(super) async fn initialize(
        self: &Arc<Self>,
        sender: &Sender,
        message: &Message,
        asked: Asked<'_>,
    ) {
        let start = Instant::now();
        self.start.wait(Method::Initialize).await;
        let opened = self.open(sender, message).await;
        sender.site.counts.request(asked.method, outcome(&opened), start.elapsed());
        let sent = match opened {
            Ok(answer) => answers::send(answer, &self.output, handover::stateless).await,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = sent {
            self.refuse(&sender.site, &fault, asked).await;
        }
    }

    async fn open(self: &Arc<Self>, sender: &Sender, message: &Message) -> Result<Answer, Fault> {
        if self.session.get().is_some() {
            let text = "This client is initialized already: a connection has one session for its whole life.";
            return Err(Fault::new(Code::InvalidRequest, text));
        }
        let visitor = sender.visitor(&self.connector)?;
        let (session, answer) = legacy::open(&sender.site, &visitor, message).await?;
        let session = self.session.get_or_init(|| session);
        let (listener, output) = (session.outbox.listen(), self.output.clone());
        let (quit, kept) = (self.quit.clone(), Arc::clone(session));
        let standing = visitor.endpoint.connector.standing();
        self.tasks.spawn(async move {
            let pump = async {
                while let Some(waiting) = listener.next().await {
                    let Some(connector) = standing.now() else { return };
                    if let Some(text) = handover::judged(&connector, &kept, waiting).await {
                        output.send(text).await;
                    }
                }
            };
            quit.run_until_cancelled(Box::pin(pump)).await;
        });
        Ok(answer)
    }

    /// Nothing that belongs to no request is sent any more.
    pub(in crate::transport) fn close_outbox(&self) {
        if let Some(session) = self.session.get() {
            session.outbox.close();
        }
    }

    /// Whether it is a client of the connector of this name.
    pub(in crate::transport) fn serves(&self, connector: &str) -> bool {
        *self.connector == *connector
    }

    /// Gives up whatever is in flight.
    pub(in crate::transport) fn quit(&self) {
        self.quit.cancel();
    }

    /// The session of the legacy era, once there is one.
    pub(in crate::transport) fn session(&self) -> Option<&Arc<Session>> {
        self.session.get()
    }
}

pub(super) fn outcome<T>(served: &Result<T, Fault>) -> Outcome {
    if served.is_ok() { Outcome::Answered } else { Outcome::Failed }
}

pub(super) fn nothing_known() -> Asked<'static> {
    Asked::unknown(RequestId::next())
}

/// The era of a message: nothing but its `_meta` tells it.
pub(super) fn era(message: &Message) -> Era {
    match message.field(Field::MetaProtocolVersion) {
        Some(_) => Era::Modern,
        None => Era::Legacy,
    }
}

pub(super) fn overloaded() -> Fault {
    let text = format!("This client has {REQUESTS} requests in flight: wait for answers.");
    Fault::new(Code::Overloaded, text)
}

pub(super) fn not_initialized() -> Fault {
    let text = "There is no session: initialize first, or send requests of revision 2026-07-28.";
    Fault::new(Code::SessionMissing, text)
}
