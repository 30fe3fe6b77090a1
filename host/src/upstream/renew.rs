//! What a session at a server is told by plugway itself: the level that its party wants, and, when it is a new one in the
//! place of another, what the party subscribed to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use super::failure::Failure;
use super::limits::RESUBSCRIBE_AT_ONCE;
use crate::pipeline::Level;
use crate::pipeline::party::Party;
use crate::pipeline::port::{Order, Promise};
use crate::protocol::{Era, Message, Method, scan};

/// A session of the legacy era, over HTTP or with a child.
pub(super) trait Line: Send + Sync {
    /// Name of the server.
    fn server(&self) -> &str;
    /// JSON text of the server's capabilities.
    fn capabilities(&self) -> &str;
    /// The level that the server was told.
    fn told(&self) -> &Told;
    /// How long a question of plugway's own may take before a call goes on without it.
    fn patience(&self) -> Duration;
    /// Asks a question of plugway's own; `params` is JSON text.
    fn ask(&self, method: Method, params: String) -> Promise<'_, Result<Message, Failure>>;
}

/// The level that a server was told in one session.
#[derive(Debug)]
pub(super) struct Told(AtomicU8);

/// Stands for no level.
const NOTHING: u8 = u8::MAX;

impl Default for Told {
    fn default() -> Self {
        Self(AtomicU8::new(NOTHING))
    }
}

impl Told {
    /// Whether the server has to be told this level; it counts as told then. `only_more` = not where it sends more already.
    fn take(&self, level: Level, only_more: bool) -> bool {
        let level = level as u8;
        let differs = |told: u8| if only_more { told > level } else { told != level };
        let next = |told: u8| differs(told).then_some(level);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).is_ok()
    }
}

/// Tells the server the level that an order's party wants, where that has changed.
pub(super) async fn level(line: &impl Line, order: &Order) {
    match order.party.revision.era() {
        Era::Legacy => {
            if let Some(level) = order.party.outbox.level() {
                set_level(line, level, false).await;
            }
        }
        // One session serves all requests of the caller: each takes out of what the server sends what it wants.
        Era::Modern => {
            if let Some(level) = Level::of_request(&order.message) {
                set_level(line, level, true).await;
            }
        }
    }
}

/// Tells the server a level, where it has such a thing and was told another one.
pub(super) async fn set_level(line: &impl Line, level: Level, only_more: bool) {
    // The level is almost always the one that it was told.
    if line.told().take(level, only_more) && scan::member(line.capabilities(), "logging").is_some()
    {
        let params = format!(r#"{{"level":"{}"}}"#, level.as_str());
        Box::pin(tell(line, Method::SetLevel, params)).await;
    }
}

/// Tells a session that was just opened what its party wants; nobody uses the session before that.
pub(super) async fn whole(line: &impl Line, party: &Party, uris: Vec<Arc<str>>) {
    if let Some(level) = party.outbox.level() {
        set_level(line, level, false).await;
    }
    let told = uris.into_iter().map(|uri| {
        let params = format!(r#"{{"uri":{}}}"#, Value::from(&*uri));
        tell(line, Method::ResourcesSubscribe, params)
    });
    stream::iter(told).buffer_unordered(RESUBSCRIBE_AT_ONCE).collect::<()>().await;
}

/// A server that does not do it is noted in the log: the client's own requests go on.
async fn tell(line: &impl Line, method: Method, params: String) {
    let told = tokio::time::timeout(line.patience(), line.ask(method, params)).await;
    let reason: Arc<str> = match told {
        Ok(Ok(answer)) => match answer.error() {
            None => return,
            Some(error) => error.into(),
        },
        Ok(Err(failure)) => failure.reason(),
        Err(_elapsed) => "it did not answer in time".into(),
    };
    let (upstream, method) = (line.server(), method.as_str());
    tracing::warn!(
        upstream,
        method,
        reason = &*reason,
        "a server was not told what a session wants"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_told_once_and_again_when_it_changes() {
        let told = Told::default();
        assert!(told.take(Level::Error, true) && !told.take(Level::Error, true));
        assert!(!told.take(Level::Alert, true), "it sends more already");
        assert!(told.take(Level::Debug, true) && !told.take(Level::Error, true));
        assert!(told.take(Level::Error, false) && !told.take(Level::Error, false));
    }
}
