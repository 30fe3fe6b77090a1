//! plugway's own child, over which the catalogue is read. With `sharing: connector` it is everybody's.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::children::{Children, ended};
use crate::pipeline::port::Promise;
use crate::protocol::{Era, Message};
use crate::upstream::authored::{Hello, legacy_request, listen, modern_request};
use crate::upstream::era::Speaks;
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::keeper::{Lists, Peer, Pulse};
use crate::upstream::limits::PAGE;
use crate::upstream::settings::Sharing;

/// Reads catalogues from a child.
#[derive(Debug)]
pub(in crate::upstream) struct StdioPeer {
    children: Arc<Children>,
}

impl StdioPeer {
    pub(in crate::upstream) fn new(children: Arc<Children>) -> Self {
        Self { children }
    }

    async fn connect(&self) -> Result<Greeting, Failure> {
        let child = match self.children.sharing {
            Sharing::Connector => self.children.shared().await?.1,
            Sharing::Session => Arc::new(self.children.own().await?),
        };
        let modern = child.era == Era::Modern;
        let initialize = (!modern).then_some(true);
        self.children.era.found(Speaks { modern: Some(modern), initialize });
        let greeting = child.greeting.clone();
        drop(self.children.keep_own(Some(Arc::clone(&child))));
        self.children.spec.told.fetch_add(1, Ordering::Relaxed);
        greeting.ok_or_else(|| child.crashed())
    }

    async fn question(
        &self,
        method: &'static str,
        cursor: Option<&str>,
    ) -> Result<Message, Failure> {
        let Some(child) = self.children.own_child() else {
            return Err(Failure::unavailable(&self.children.spec.name));
        };
        let text = |number| match child.era {
            Era::Legacy => legacy_request(number, method, cursor),
            Era::Modern => modern_request(&Hello::own(), number, method, cursor),
        };
        child.ask(text, PAGE).await
    }
}

impl Lists for StdioPeer {
    fn list<'a>(
        &'a self,
        method: &'static str,
        cursor: Option<&'a str>,
    ) -> Promise<'a, Result<Message, Failure>> {
        Box::pin(self.question(method, cursor))
    }

    fn sends_headers(&self) -> bool {
        false
    }
}

impl Peer for StdioPeer {
    fn greet(&self) -> Promise<'_, Result<Greeting, Failure>> {
        Box::pin(self.connect())
    }

    fn check(&self, _closely: bool) -> Promise<'_, Result<Pulse, Failure>> {
        Box::pin(async {
            let modern = self.children.own_child().is_some_and(|child| child.era == Era::Modern);
            let method = if modern { "server/discover" } else { "ping" };
            // An error is a sign of life, too.
            self.question(method, None).await.map(|_answer| Pulse::Alive)
        })
    }

    fn listen(&self) -> Promise<'_, Infallible> {
        // What a child says arrives on its output; one of the modern era says nothing unless it is asked to.
        Box::pin(async {
            let modern = self.children.own_child().filter(|child| child.era == Era::Modern);
            if let Some(child) = modern
                && let Ok((number, receipt)) = child.routes.open(None)
            {
                let deadline = Instant::now() + self.children.spec.limits.open;
                if child.write(listen(number), deadline).await.is_ok() {
                    // Its answer says that it is over, or that there is no such thing.
                    receipt.done.await.ok();
                }
                child.routes.forget(number);
            }
            pending().await
        })
    }

    fn gone(&self) -> Promise<'_, ()> {
        Box::pin(ended(self.children.own_child()))
    }

    fn part(&self) -> Promise<'_, ()> {
        Box::pin(async {
            if let Some(child) = self.children.keep_own(None) {
                child.stop().await;
            }
        })
    }
}
