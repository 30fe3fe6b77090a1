//! Reads what a server offers to clients with certain capabilities, over a connection of plugway's own that lasts as long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::HeaderValue;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::endpoint::Endpoint;
use super::probe::probe_as;
use super::question::Question;
use super::request::Whose;
use super::session::Session;
use crate::pipeline::port::{Offering, Promise};
use crate::protocol::{Era, Message};
use crate::upstream::authored::{Hello, OPENING_ID};
use crate::upstream::catalogue;
use crate::upstream::documents::Document;
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::keeper::Lists;
use crate::upstream::settings::Asks;
use crate::upstream::status::Status;
use crate::upstream::varying::{Reading, Varying};

impl Varying for Endpoint {
    fn status(&self) -> &Arc<Status> {
        &self.status
    }

    fn asks(&self) -> Asks {
        self.asks
    }

    fn reasons(&self, _era: Option<Era>) -> u64 {
        self.status.reads()
    }

    fn gap(&self, _era: Option<Era>, _changed: bool) -> Duration {
        Duration::ZERO
    }

    fn over(&self) -> CancellationToken {
        CancellationToken::new()
    }

    fn read(self: Arc<Self>, era: Option<Era>, hello: Hello, lent: Option<HeaderValue>) -> Reading {
        Box::pin(async move { read_as(&self, era, hello, lent).await })
    }
}

/// One reading.
struct Reader {
    endpoint: Arc<Endpoint>,
    hello: Hello,
    /// Its session; none at a server of the modern era.
    session: Option<Session>,
    whose: Whose,
    ids: AtomicU64,
}

async fn read_as(
    endpoint: &Arc<Endpoint>,
    era: Option<Era>,
    hello: Hello,
    lent: Option<HeaderValue>,
) -> Result<Offering, Failure> {
    let (mut session, mut era, mut whose) = (None, era, Whose::Own);
    if lent.is_some() {
        whose = Whose::Caller(lent);
        era = Some(probe_as(endpoint, whose.clone()).await?);
    }
    if era != Some(Era::Modern) {
        let opening = Session::open(Arc::clone(endpoint), hello.clone(), whose.clone(), None);
        session = Some(opening.await?);
    }
    let ids = AtomicU64::new(OPENING_ID + 1);
    let reader = Reader { endpoint: Arc::clone(endpoint), hello, session, whose, ids };
    let limit = endpoint.limits.catalogue;
    let read = timeout(limit, reader.read()).await;
    if let Some(session) = &reader.session {
        session.close().await;
    }
    read.unwrap_or_else(|_| Err(Failure::timeout(endpoint.name(), limit)))
}

impl Reader {
    async fn read(&self) -> Result<Offering, Failure> {
        let greeting = if let Some(session) = &self.session {
            session.greeting.clone()
        } else {
            let answer = self.ask("server/discover", None).await?;
            answer.result().and_then(Greeting::discovered).ok_or_else(|| {
                Failure::broken(self.endpoint.name(), "does not let itself be discovered")
            })?
        };
        Ok(catalogue::read(self, &greeting, self.endpoint.name()).await?.offering)
    }

    async fn ask(&self, method: &str, cursor: Option<&str>) -> Result<Message, Failure> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let asked = Question { method, cursor, id, whose: self.whose.clone() };
        let answer = asked.ask(&self.endpoint, self.session.as_ref(), &self.hello).await?;
        answer.ok_or_else(|| {
            let what = "does not know plugway's session any more";
            Failure::broken(self.endpoint.name(), what)
        })
    }
}

impl Lists for Reader {
    fn list<'a>(
        &'a self,
        method: &'static str,
        cursor: Option<&'a str>,
    ) -> Promise<'a, Result<Message, Failure>> {
        Box::pin(self.ask(method, cursor))
    }

    fn sends_headers(&self) -> bool {
        true
    }

    /// It is the same for everybody, and was read with everybody's lists where there are any. It is never asked for with a
    /// caller's credential.
    fn catalog(&self) -> Promise<'_, Option<Document>> {
        match self.whose {
            Whose::Own => Box::pin(std::future::ready(self.endpoint.catalog.last())),
            Whose::Caller(_) => Box::pin(self.endpoint.catalog.current(&self.endpoint)),
        }
    }
}
