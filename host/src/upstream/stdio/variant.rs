//! Reads what a server offers to clients with certain capabilities: over plugway's own child where each request says them, and
//! else over a child that is opened with them and ended after it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::HeaderValue;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::child::{Child, Serves};
use super::children::Children;
use super::opening::Opening;
use crate::pipeline::port::{Offering, Promise};
use crate::protocol::{Era, Message};
use crate::upstream::authored::{Hello, legacy_request, modern_request};
use crate::upstream::catalogue;
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::keeper::Lists;
use crate::upstream::limits::{PAGE, VARIANT_GAP, VARIANT_GAP_UNCHANGED};
use crate::upstream::settings::{Asks, Sharing};
use crate::upstream::status::Status;
use crate::upstream::varying::{Reading, Varying};

impl Children {
    /// Whether there are variants for what is read in this era: one child for everybody is introduced to nobody.
    pub(super) fn varies(&self, era: Option<Era>) -> bool {
        era == Some(Era::Modern) || self.sharing == Sharing::Session
    }

    /// Starts a child for the reading, or borrows plugway's own.
    async fn read_as(&self, era: Option<Era>, hello: Hello) -> Result<Offering, Failure> {
        if era == Some(Era::Modern) {
            let own = self.own_child();
            let child = own.ok_or_else(|| Failure::unavailable(&self.spec.name))?;
            return Reader { child, hello }.read(&self.spec.name).await;
        }
        let taken = self.turns.take(&self.permits).await;
        let (place, end) = taken.ok_or_else(|| self.spec.full())?;
        let reading = async {
            let opening = Opening::Initialize(hello.clone());
            let started = Child::start(Arc::clone(&self.spec), opening, Serves::Reading, place);
            let child = Arc::new(started.await?);
            Reader { child, hello }.read(&self.spec.name).await
        };
        // The child ends when it is dropped, in the middle, too.
        end.run_until_cancelled(reading).await.unwrap_or_else(|| Err(self.spec.full()))
    }
}

impl Varying for Children {
    fn status(&self) -> &Arc<Status> {
        &self.spec.status
    }

    fn asks(&self) -> Asks {
        self.spec.asks
    }

    /// In the modern era a reading costs a few requests; in the other one it costs a process, and the catalogue was read
    /// again without any reason most of the time.
    fn reasons(&self, era: Option<Era>) -> u64 {
        match era {
            Some(Era::Modern) => self.spec.status.reads(),
            _ => self.spec.told.load(Ordering::Relaxed),
        }
    }

    fn gap(&self, era: Option<Era>, changed: bool) -> Duration {
        match era {
            Some(Era::Modern) => Duration::ZERO,
            _ if changed => VARIANT_GAP,
            _ => VARIANT_GAP_UNCHANGED,
        }
    }

    fn over(&self) -> CancellationToken {
        self.over.clone()
    }

    /// Nobody's credential goes over pipes.
    fn read(
        self: Arc<Self>,
        era: Option<Era>,
        hello: Hello,
        _lent: Option<HeaderValue>,
    ) -> Reading {
        Box::pin(async move {
            let limits = &self.spec.limits;
            let limit = limits.start + limits.catalogue;
            let read = timeout(limit, self.read_as(era, hello)).await;
            read.unwrap_or_else(|_| Err(Failure::timeout(&self.spec.name, limit)))
        })
    }
}

/// One reading.
struct Reader {
    child: Arc<Child>,
    hello: Hello,
}

impl Reader {
    async fn read(&self, name: &str) -> Result<Offering, Failure> {
        let greeting = match self.child.era {
            Era::Legacy => self.child.greeting.clone(),
            Era::Modern => {
                let answer = self.ask("server/discover", None).await?;
                answer.result().and_then(Greeting::discovered)
            }
        };
        let greeting =
            greeting.ok_or_else(|| Failure::broken(name, "does not let itself be discovered"))?;
        Ok(catalogue::read(self, &greeting, name).await?.offering)
    }

    async fn ask(&self, method: &str, cursor: Option<&str>) -> Result<Message, Failure> {
        let text = |number| match self.child.era {
            Era::Legacy => legacy_request(number, method, cursor),
            Era::Modern => modern_request(&self.hello, number, method, cursor),
        };
        self.child.ask(text, PAGE).await
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
        false
    }
}
