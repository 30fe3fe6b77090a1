//! plugway's own connection to an HTTP server.

use std::future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::ask::ask;
use super::endpoint::Endpoint;
use super::probe::{Found, probe};
use super::request::Head;
use super::session::Session;
use crate::pipeline::port::Promise;
use crate::protocol::Message;
use crate::upstream::authored::{Hello, legacy_request, modern_request};
use crate::upstream::era::{EraCell, Speaks};
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::keeper::Peer;

/// Reads catalogues: in a session of its own at a legacy server, without one at a modern server.
#[derive(Debug)]
pub(in crate::upstream) struct HttpPeer {
    endpoint: Arc<Endpoint>,
    era: Arc<EraCell>,
    session: Mutex<Option<Arc<Session>>>,
    ids: AtomicU64,
}

impl HttpPeer {
    pub(in crate::upstream) fn new(endpoint: Arc<Endpoint>, era: Arc<EraCell>) -> Self {
        Self { endpoint, era, session: Mutex::new(None), ids: AtomicU64::new(1) }
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, session: Option<Arc<Session>>) -> Option<Arc<Session>> {
        let mut place = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *place, session)
    }

    async fn connect(&self) -> Result<Greeting, Failure> {
        if let Found::Modern(greeting) = probe(&self.endpoint).await? {
            self.era.found(Speaks { modern: Some(true), initialize: None });
            return Ok(greeting);
        }
        let session = Session::open(Arc::clone(&self.endpoint), Hello::own(), None).await?;
        self.era.found(Speaks { modern: Some(false), initialize: Some(true) });
        let greeting = session.greeting.clone();
        drop(self.keep(Some(Arc::new(session))));
        Ok(greeting)
    }

    async fn question(&self, method: &str, cursor: Option<&str>) -> Result<Message, Failure> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let (head, text) = match self.session() {
            Some(session) => (session.head(), legacy_request(id, method, cursor)),
            None => (Head::modern_method(method), modern_request(id, method, cursor)),
        };
        let reply = ask(&self.endpoint, head, text, Some(id)).await?;
        reply.check(&self.endpoint)?;
        // Whatever the body says: 404 in a session means that the session is gone (2025-11-25, "Session Management").
        if reply.status.as_u16() == 404 && self.session().is_some() {
            let what = "does not know plugway's session any more";
            return Err(Failure::broken(self.endpoint.name(), what));
        }
        let usable = reply.status.is_success() || reply.status.is_client_error();
        reply.message.filter(|_| usable).ok_or_else(|| {
            let what = "does not answer plugway's own questions";
            Failure::broken(self.endpoint.name(), what).because(reply.status)
        })
    }
}

impl Peer for HttpPeer {
    fn greet(&self) -> Promise<'_, Result<Greeting, Failure>> {
        Box::pin(self.connect())
    }

    fn list<'a>(
        &'a self,
        method: &'static str,
        cursor: Option<&'a str>,
    ) -> Promise<'a, Result<Message, Failure>> {
        Box::pin(self.question(method, cursor))
    }

    fn check(&self) -> Promise<'_, Result<(), Failure>> {
        Box::pin(async {
            let method = if self.session().is_some() { "ping" } else { "server/discover" };
            let answer = self.question(method, None).await?;
            // A legacy server that does not know ping is alive all the same.
            let gone = answer.id().is_none() && answer.error().is_some();
            if gone {
                let what = "does not know plugway's session any more";
                return Err(Failure::broken(self.endpoint.name(), what));
            }
            Ok(())
        })
    }

    fn gone(&self) -> Promise<'_, ()> {
        Box::pin(future::pending())
    }

    fn part(&self) -> Promise<'_, ()> {
        Box::pin(async {
            if let Some(session) = self.keep(None) {
                session.close().await;
            }
        })
    }
}
