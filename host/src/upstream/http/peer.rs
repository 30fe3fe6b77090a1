//! plugway's own connection to an HTTP server.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use super::endpoint::Endpoint;
use super::health::Health;
use super::own::Own;
use super::probe::{Found, probe};
use super::question::Question;
use super::request::Whose;
use super::session::Session;
use super::stream::follow;
use crate::pipeline::port::Promise;
use crate::protocol::Message;
use crate::upstream::authored::Hello;
use crate::upstream::documents::Document;
use crate::upstream::era::{EraCell, Speaks};
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::keeper::{Lists, Peer, Pulse};

/// Reads catalogues: in a session of its own at a legacy server, without one at a modern server.
#[derive(Debug)]
pub(in crate::upstream) struct HttpPeer {
    endpoint: Arc<Endpoint>,
    era: Arc<EraCell>,
    place: watch::Sender<Place>,
    health: Health,
    ids: AtomicU64,
}

/// What plugway has at the server.
#[derive(Clone, Debug)]
enum Place {
    /// Nothing.
    Nowhere,
    /// A session, at a legacy server.
    Session(Arc<Session>),
    /// A server that knows no sessions.
    Stateless,
}

impl HttpPeer {
    pub(in crate::upstream) fn new(endpoint: Arc<Endpoint>, era: Arc<EraCell>) -> Self {
        let (place, health) = (watch::channel(Place::Nowhere).0, Health::new());
        Self { endpoint, era, place, health, ids: AtomicU64::new(1) }
    }

    fn session(&self) -> Option<Arc<Session>> {
        match &*self.place.borrow() {
            Place::Session(session) => Some(Arc::clone(session)),
            Place::Nowhere | Place::Stateless => None,
        }
    }

    async fn connect(&self) -> Result<Greeting, Failure> {
        // Dropped, the old session says goodbye, unless the server has forgotten it.
        drop(self.place.send_replace(Place::Nowhere));
        // A server that says that it is not well is not asked for a session.
        self.health.before(&self.endpoint).await?;
        self.endpoint.no_streams.store(false, Ordering::Relaxed);
        if let Found::Modern(greeting) = probe(&self.endpoint, Whose::Own).await? {
            self.era.found(Speaks { modern: Some(true), initialize: None });
            self.place.send_replace(Place::Stateless);
            return Ok(greeting);
        }
        let endpoint = Arc::clone(&self.endpoint);
        let session = Session::open(endpoint, Hello::own(), Whose::Own, None).await?;
        self.era.found(Speaks { modern: Some(false), initialize: Some(true) });
        let greeting = session.greeting.clone();
        self.place.send_replace(Place::Session(Arc::new(session)));
        Ok(greeting)
    }

    /// None says that the server does not know plugway's session any more.
    async fn question(
        &self,
        method: &str,
        cursor: Option<&str>,
    ) -> Result<Option<Message>, Failure> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let session = self.session();
        let asked = Question { method, cursor, id, whose: Whose::Own };
        let answer = asked.ask(&self.endpoint, session.as_deref(), &Hello::own()).await?;
        if let (None, Some(session)) = (&answer, &session) {
            session.lost();
        }
        Ok(answer)
    }

    async fn pulse(&self) -> Result<Pulse, Failure> {
        let method = if self.session().is_some() { "ping" } else { "server/discover" };
        // A legacy server that does not know ping is alive all the same.
        match self.question(method, None).await {
            Ok(Some(_answer)) => Ok(Pulse::Alive),
            Ok(None) => Ok(Pulse::Forgotten),
            // Too many questions are no sign of death.
            Err(failure) if failure.is_busy() => Ok(Pulse::Alive),
            // It answers nobody but callers; if it did before, that has to be found out.
            Err(failure) if failure.wants_callers() => Ok(match &*self.place.borrow() {
                Place::Nowhere => Pulse::Alive,
                Place::Session(_) | Place::Stateless => Pulse::Forgotten,
            }),
            Err(failure) => Err(failure),
        }
    }

    async fn listening(&self) -> Infallible {
        let mut places = self.place.subscribe();
        loop {
            let place = places.borrow_and_update().clone();
            let session = match place {
                Place::Session(session) if session.is_named() => Some(Some(session)),
                Place::Stateless => Some(None),
                Place::Session(_) | Place::Nowhere => None,
            };
            let followed = async {
                if let Some(session) = session {
                    let own = Own { endpoint: &self.endpoint, session, ids: &self.ids };
                    follow(&self.endpoint, &own).await;
                }
                pending::<()>().await;
            };
            tokio::select! {
                changed = places.changed() => if changed.is_err() { pending::<()>().await },
                () = followed => {}
            }
        }
    }
}

impl Lists for HttpPeer {
    fn list<'a>(
        &'a self,
        method: &'static str,
        cursor: Option<&'a str>,
    ) -> Promise<'a, Result<Message, Failure>> {
        Box::pin(async move {
            self.question(method, cursor).await?.ok_or_else(|| {
                let what = "does not know plugway's session any more";
                Failure::broken(self.endpoint.name(), what)
            })
        })
    }

    fn sends_headers(&self) -> bool {
        true
    }

    fn catalog(&self) -> Promise<'_, Option<Document>> {
        Box::pin(self.endpoint.catalog.read(&self.endpoint))
    }
}

impl Peer for HttpPeer {
    fn greet(&self) -> Promise<'_, Result<Greeting, Failure>> {
        Box::pin(self.connect())
    }

    fn check(&self, closely: bool) -> Promise<'_, Result<Pulse, Failure>> {
        Box::pin(async move {
            if self.health.ask(&self.endpoint).await? && !closely {
                return Ok(Pulse::Alive);
            }
            self.pulse().await
        })
    }

    fn listen(&self) -> Promise<'_, Infallible> {
        Box::pin(self.listening())
    }

    fn gone(&self) -> Promise<'_, ()> {
        Box::pin(pending())
    }

    fn part(&self) -> Promise<'_, ()> {
        Box::pin(async {
            if let Place::Session(session) = self.place.send_replace(Place::Nowhere) {
                session.close().await;
            }
        })
    }
}
