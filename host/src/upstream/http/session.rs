//! The session of one party at a server of the legacy era.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::answer::strange;
use super::ask::ask;
use super::body::Sent;
use super::endpoint::Endpoint;
use super::request::{Head, Whose, delete};
use crate::pipeline::port::Promise;
use crate::protocol::{Message, Method};
use crate::upstream::authored::{self, Hello, OPENING_ID, OWN_IDS, request};
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::limits::GOODBYE;
use crate::upstream::renew::{Line, Told};

/// What a server may be that does not take `initialize`.
const OLD_TRANSPORT: &str = "does not speak Streamable HTTP at this address: a server of revision 2024-11-05 needs `transport: sse`";

/// An initialised session. It ends with [`Session::close`], or when nobody holds it any more.
#[derive(Debug)]
pub(super) struct Session {
    endpoint: Arc<Endpoint>,
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The newest credential of the caller, where it is passed on: who renews it keeps the session.
    credential: Option<Mutex<Option<HeaderValue>>>,
    pub(super) greeting: Greeting,
    closed: AtomicBool,
    numbers: AtomicU64,
    /// The level that the server was told.
    told: Told,
    /// Ends the stream that belongs to it.
    ended: CancellationToken,
    heard: AtomicBool,
    _seat: Option<Seat>,
}

/// One of the sessions that an upstream may have.
#[derive(Debug)]
pub(super) struct Seat(Arc<AtomicUsize>);

impl Seat {
    /// Takes a seat; none when `limit` are taken.
    pub(super) fn take(taken: &Arc<AtomicUsize>, limit: usize) -> Option<Self> {
        let more = |taken: usize| (taken < limit).then_some(taken + 1);
        taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Self(Arc::clone(taken)))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Session {
    /// `initialize`, then `notifications/initialized`.
    pub(super) async fn open(
        endpoint: Arc<Endpoint>,
        hello: Hello,
        whose: Whose,
        seat: Option<Seat>,
    ) -> Result<Self, Failure> {
        let limit = endpoint.limits.open;
        let name = Arc::clone(endpoint.status.name());
        timeout(limit, Self::handshake(endpoint, hello, whose, seat))
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(&name, limit)))
    }

    async fn handshake(
        endpoint: Arc<Endpoint>,
        hello: Hello,
        whose: Whose,
        seat: Option<Seat>,
    ) -> Result<Self, Failure> {
        let credential = match &whose {
            Whose::Caller(credential) if endpoint.forwards() => {
                Some(Mutex::new(credential.clone()))
            }
            _ => None,
        };
        let head = Head { whose, ..Head::default() };
        let reply = ask(&endpoint, head, hello.initialize(OPENING_ID), Some(OPENING_ID)).await?;
        reply.check(&endpoint)?;
        let message = reply.message.filter(|_| !reply.status.is_server_error());
        let Some(message) = message else {
            let what = match reply.status.as_u16() {
                // So answers a server whose stream stands at this address.
                404 | 405 => OLD_TRANSPORT,
                _ => strange(reply.status),
            };
            let failure = Failure::broken(endpoint.name(), what);
            let refused = reply.status.is_client_error();
            let failure = failure.because(reply.status);
            return Err(if refused { failure.without_handshake() } else { failure });
        };
        if let Some(error) = message.error() {
            let failure = Failure::broken(endpoint.name(), "refuses to open a session");
            return Err(failure.because(error).without_handshake());
        }
        let Some(greeting) = message.result().and_then(Greeting::initialized) else {
            return Err(Failure::broken(
                endpoint.name(),
                "answered initialize with something else",
            ));
        };
        let session = Self {
            id: reply.session,
            version: HeaderValue::from_str(&greeting.version).ok(),
            credential,
            greeting,
            closed: AtomicBool::new(false),
            numbers: AtomicU64::new(OPENING_ID + 1),
            told: Told::default(),
            ended: CancellationToken::new(),
            heard: AtomicBool::new(false),
            _seat: seat,
            endpoint,
        };
        session.ready().await?;
        Ok(session)
    }

    async fn ready(&self) -> Result<(), Failure> {
        let reply = ask(&self.endpoint, self.head(), authored::initialized(), None).await?;
        if reply.status.is_success() {
            return Ok(());
        }
        reply.check(&self.endpoint)?;
        let what = "does not go on after initialize";
        Err(Failure::broken(self.endpoint.name(), what).because(reply.status))
    }

    /// An id for a request that nobody else has in this session.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The headers of a message in this session.
    pub(super) fn head(&self) -> Head {
        let whose = match &self.credential {
            None => Whose::Own,
            Some(newest) => {
                Whose::Caller(newest.lock().unwrap_or_else(PoisonError::into_inner).clone())
            }
        };
        let (session, version) = (self.id.clone(), self.version.clone());
        Head { session, version, whose, ..Head::default() }
    }

    /// The caller came with this credential.
    pub(super) fn renew(&self, credential: Option<&HeaderValue>) {
        if let Some(newest) = &self.credential {
            *newest.lock().unwrap_or_else(PoisonError::into_inner) = credential.cloned();
        }
    }

    /// Whether a server opened it by name; without one there is nothing to listen to.
    pub(super) fn is_named(&self) -> bool {
        self.id.is_some()
    }

    /// The end of the session, for whoever is the first to hear what the server says in it outside of calls.
    pub(super) fn first_heard(&self) -> Option<CancellationToken> {
        let first = self.is_named() && !self.heard.load(Ordering::Relaxed);
        (first && !self.heard.swap(true, Ordering::Relaxed)).then(|| self.ended.clone())
    }

    /// Tells the server that the session ended; best effort, within a bounded time.
    pub(super) async fn close(&self) {
        if let Some(goodbye) = self.goodbye() {
            goodbye.await;
        }
    }

    /// The server does not know the session any more: there is nothing to end.
    pub(super) fn lost(&self) {
        self.ended.cancel();
        self.closed.store(true, Ordering::Release);
    }

    fn goodbye(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        self.ended.cancel();
        if self.id.is_none() || self.closed.swap(true, Ordering::AcqRel) {
            return None;
        }
        let sent = Sent::new(self.endpoint.send(delete(&self.endpoint, self.head())), None);
        let name = Arc::clone(self.endpoint.status.name());
        Some(async move {
            // 405 is a proper answer: the server does not let clients end sessions.
            if !matches!(timeout(GOODBYE, sent).await, Ok(Ok(_))) {
                tracing::debug!(upstream = &*name, "a session could not be ended at the server");
            }
        })
    }
}

impl Line for Session {
    fn server(&self) -> &str {
        self.endpoint.name()
    }

    fn capabilities(&self) -> &str {
        &self.greeting.capabilities
    }

    fn told(&self) -> &Told {
        &self.told
    }

    fn patience(&self) -> Duration {
        self.endpoint.limits.open
    }

    fn ask(&self, method: Method, params: String) -> Promise<'_, Result<Message, Failure>> {
        Box::pin(async move {
            let id = OWN_IDS + self.number();
            let text = request(id, method.as_str(), &params);
            let reply = ask(&self.endpoint, self.head(), text, Some(id)).await?;
            reply.check(&self.endpoint)?;
            let status = reply.status;
            reply.message.ok_or_else(|| {
                Failure::broken(self.endpoint.name(), strange(status)).because(status)
            })
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(goodbye) = self.goodbye() {
            self.endpoint.drainer.run(goodbye, GOODBYE);
        }
    }
}
