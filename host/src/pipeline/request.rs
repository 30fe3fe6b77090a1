//! A request on its way through the pipeline.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::Notify;

use super::caller::Caller;
use super::confirm::Confirmed;
use super::connector::Connector;
use super::filters::Filters;
use super::inbound::Toward;
use super::level::{Level, Wanted};
use super::party::Party;
use super::port::Upstream;
use super::trail::Trail;
use super::viewer::{Shows, Viewer};
use crate::catalogue::View;
use crate::fault::Fault;
use crate::protocol::{Era, Message};

/// One request of a client, with everything that was established about it.
#[derive(Clone, Debug)]
pub struct Request {
    /// Finds the request in the log.
    pub request_id: RequestId,
    /// Who calls.
    pub caller: Arc<Caller>,
    /// On whose behalf upstreams are asked.
    pub party: Arc<Party>,
    /// The request.
    pub message: Message,
    /// Headers of the request without credentials, for plugins that may read them.
    pub headers: Arc<HeaderMap>,
    /// Keyed hash of the session.
    pub session: Option<Arc<str>>,
    /// `Mcp-Param-*` headers, to go along.
    pub passed: Vec<(HeaderName, HeaderValue)>,
    /// The client's `Authorization`: no plugin sees it, and only upstreams that it is forwarded to get it.
    pub credential: Option<HeaderValue>,
    /// What it says about what is to be shown; none = nothing that a policy may read.
    pub filters: Option<Arc<Filters>>,
    /// Where a cancellation finds the upstream.
    pub flight: Arc<Flight>,
    /// How many plugin requests stand between this one and the client.
    pub depth: u8,
    /// Whether its client hears what is said before its response: in a JSON-RPC batch there are responses alone.
    pub streams: bool,
    /// What a person confirmed of it, where policies wanted that.
    pub confirmed: Option<Arc<Confirmed>>,
    /// What the audit will hear of it; none where nobody wants to.
    pub trail: Option<Arc<Trail>>,
}

impl Request {
    /// Whom messages of servers are for that belong to this request.
    pub fn toward(&self) -> Toward {
        Toward {
            request_id: self.request_id,
            caller: self.caller.clone(),
            session: self.session.clone(),
            revision: self.party.revision,
            filters: self.filters.clone(),
        }
    }

    /// What the caller sees of a connector.
    pub(super) async fn view(&self, connector: &Connector) -> Result<Arc<View>, Fault> {
        connector.view(self.viewer()).await
    }

    /// Who looks at a connector with this request.
    pub fn viewer(&self) -> Viewer<'_> {
        let shows = Shows::Request(self.credential.as_ref());
        let capabilities = self.party.capabilities.as_ref();
        Viewer { caller: &self.caller, capabilities, shows, filters: self.filters.as_ref() }
    }

    /// The era that the client speaks.
    pub fn era(&self) -> Era {
        self.party.revision.era()
    }

    /// Which log messages of servers the client gets on the stream of this request, at the moment of asking.
    pub fn wanted(&self) -> impl Fn() -> Wanted + Send + 'static {
        let named = Wanted::of_request(Level::of_request(&self.message));
        let session = (self.era() == Era::Legacy).then(|| self.party.outbox.clone());
        move || session.as_ref().map_or(named, |outbox| Wanted::of_session(outbox.level()))
    }
}

/// A request that is being served: says which upstream has it, once that is known, and whether the client still wants it.
#[derive(Default)]
pub struct Flight {
    upstream: Mutex<Option<Arc<dyn Upstream>>>,
    cancelled: AtomicBool,
    /// Tells of that.
    told: Notify,
    /// What lasts as long as the request, and as a call that waits for input.
    _kept: Option<Box<dyn Any + Send + Sync>>,
}

impl Flight {
    /// A request that keeps something until it was answered for good.
    pub fn keeping(kept: impl Any + Send + Sync) -> Self {
        Self { _kept: Some(Box::new(kept)), ..Self::default() }
    }

    /// The request goes to this upstream.
    pub fn goes_to(&self, upstream: &Arc<dyn Upstream>) {
        *self.upstream.lock().unwrap_or_else(PoisonError::into_inner) = Some(upstream.clone());
    }

    /// The upstream that has the request; of several that are asked one after the other the last one.
    pub fn upstream(&self) -> Option<Arc<dyn Upstream>> {
        self.upstream.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The client does not want an answer any more.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.told.notify_waiters();
    }

    /// Whether the client does not want an answer any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Until the client does not want an answer any more.
    pub async fn cancelled(&self) {
        let mut told = std::pin::pin!(self.told.notified());
        told.as_mut().enable();
        if !self.is_cancelled() {
            told.await;
        }
    }
}

impl fmt::Debug for Flight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flight")
            .field(&self.upstream().map(|upstream| upstream.name().clone()))
            .finish()
    }
}

/// Identifies a request in the log and in error answers; unique within the process, and across processes by a random
/// start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(u64);

impl RequestId {
    /// The next id.
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        if next == 0 {
            let mut start = [0; 8];
            // Without randomness ids start at 1: they are for the log, nothing depends on them.
            if getrandom::fill(&mut start).is_ok() {
                let start = u64::from_le_bytes(start) >> 8 | 1;
                NEXT.fetch_add(start, Ordering::Relaxed);
                return Self(start);
            }
        }
        Self(next)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
