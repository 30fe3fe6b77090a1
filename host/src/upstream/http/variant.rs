//! Reads what a server offers to clients with certain capabilities, over a connection of plugway's own that lasts as long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::{Instant, timeout};

use super::endpoint::Endpoint;
use super::exchange::HttpUpstream;
use super::question::Question;
use super::request::Whose;
use super::session::Session;
use crate::pipeline::port::{Offering, Phase, Promise, Variant};
use crate::protocol::{Era, Message, Revision};
use crate::upstream::authored::{Hello, OPENING_ID};
use crate::upstream::catalogue;
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::keeper::Lists;
use crate::upstream::permission::claimed;
use crate::upstream::variants::{self, Read};

impl HttpUpstream {
    /// What the server offers to clients with these capabilities.
    pub(super) async fn offers(&self, capabilities: &str) -> Variant {
        let status = &self.endpoint.status;
        let claims = claimed(capabilities, self.endpoint.asks);
        let claims = claims.as_deref().unwrap_or(capabilities);
        let Some((phase, everybodys)) = status.offering() else { return Variant::Everybodys };
        let Some(variant) = status.variants.of(claims, Instant::now()) else {
            return Variant::Everybodys;
        };
        // One that is away is not asked: what it offered last counts, as it does for everybody.
        if phase == Phase::Connected {
            Box::pin(self.read(&variant, everybodys.revision.map(Revision::era))).await;
        }
        match variant.last() {
            Some(offering) if *offering != *everybodys => Variant::Own(offering),
            _ => Variant::Everybodys,
        }
    }

    /// Reads a variant, unless that was done since the catalogue was read. However many ask at once, it is read once; the
    /// reading goes on when nobody waits for it any more.
    async fn read(&self, variant: &Arc<variants::Variant>, era: Option<Era>) {
        let reads = self.endpoint.status.reads();
        match variant.slot.current() {
            Some(known) if known.reads == reads => return,
            Some(old) => variant.slot.forget(&old),
            None if variant.failed(reads) => return,
            None => {}
        }
        let (endpoint, read) = (Arc::clone(&self.endpoint), Arc::clone(variant));
        // A task of its own, and large.
        let reading = Box::pin(async move {
            let outcome = read_as(&endpoint, era, Hello::claiming(&read.claims)).await;
            let offering = outcome.map(Arc::new);
            let status = &endpoint.status;
            if let Ok(offering) = &offering {
                status.warn_left_out(read.last().as_deref(), offering);
            }
            let differs = read.was_read(reads, offering.as_ref().ok());
            if differs {
                status.variants_changed();
            }
            offering.map(|_| Read { reads })
        });
        if let Err(failure) = variant.slot.acquire(&self.tracker, || reading).await {
            tracing::warn!(
                connector = &**self.endpoint.status.connector(),
                upstream = self.endpoint.name(),
                reason = &*failure.reason(),
                "what is offered to clients with other capabilities could not be read"
            );
        }
    }
}

/// One reading.
struct Reader {
    endpoint: Arc<Endpoint>,
    hello: Hello,
    /// Its session; none at a server of the modern era.
    session: Option<Session>,
    ids: AtomicU64,
}

async fn read_as(
    endpoint: &Arc<Endpoint>,
    era: Option<Era>,
    hello: Hello,
) -> Result<Offering, Failure> {
    let mut session = None;
    if era != Some(Era::Modern) {
        let opening = Session::open(Arc::clone(endpoint), hello.clone(), Whose::Own, None);
        session = Some(opening.await?);
    }
    let ids = AtomicU64::new(OPENING_ID + 1);
    let reader = Reader { endpoint: Arc::clone(endpoint), hello, session, ids };
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
        let asked = Question { method, cursor, id };
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
}
