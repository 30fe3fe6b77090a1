//! Tells clients what changed in the lists: settled, rarely, and only what they can see.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use indexmap::IndexMap;
use tokio::sync::watch;

use super::announced::News;
use super::caller::Caller;
use super::connector::Connector;
use super::notice::Notices;
use super::party::{Outbox, PartyId};
use super::port::{Audience, Listener};
use crate::catalogue::Sight;

/// A change is told after so long: what changes together is told together.
const SETTLE: Duration = Duration::from_millis(100);
/// Time between two tellings.
const PERIOD: Duration = Duration::from_secs(2);
/// Callers whose policies are asked at once what of a change they may see.
const AT_ONCE: usize = 8;
/// Time for all policies to say what each caller may see of a change; whoever is left over is not told.
const JUDGING: Duration = Duration::from_secs(30);

/// Tells of changes as they come; `changes` carries the audience's mark at each.
pub(super) async fn keep(
    connector: &Connector,
    audience: &dyn Audience,
    mut changes: watch::Receiver<PartyId>,
) {
    while changes.changed().await.is_ok() {
        tokio::time::sleep_until(due(connector.announced.at(), Instant::now()).into()).await;
        let mark = *changes.borrow_and_update();
        let whole = connector.views.whole();
        let news = connector.announced.renew(whole.catalogue(), Instant::now());
        if !news.is_empty() {
            tell(connector, audience, &news, mark).await;
        }
    }
}

/// When a change of this moment is told.
fn due(told: Option<Instant>, now: Instant) -> Instant {
    let settled = now + SETTLE;
    told.map_or(settled, |told| settled.max(told + PERIOD))
}

async fn tell(connector: &Connector, audience: &dyn Audience, news: &News, mark: PartyId) {
    let listeners = audience.listeners(&connector.name).into_iter();
    // A session that was opened after the change saw nothing else.
    let listeners: Vec<Listener> = listeners.filter(|one| one.party.0 < mark.0).collect();
    tracing::debug!(
        connector = %connector.name, entries = news.entries.len(), sessions = listeners.len(),
        "telling clients what changed"
    );
    if !connector.hides() {
        let notices = Notices::of(connector, news, &vec![Sight::Shown; news.entries.len()]);
        for listener in listeners {
            notices.offer(&*listener.outbox, &connector.announced);
        }
        return;
    }
    let telling = stream::iter(by_caller(listeners)).for_each_concurrent(
        AT_ONCE,
        async |(caller, outboxes): Told| {
            // Who cannot be judged is told nothing: a change that is hidden from a caller is no news for it.
            if let Ok((sights, _)) = connector.judge(&caller, &news.entries).await {
                let notices = Notices::of(connector, news, &sights);
                for outbox in outboxes {
                    notices.offer(&*outbox, &connector.announced);
                }
            }
        },
    );
    if tokio::time::timeout(JUDGING, telling).await.is_err() {
        tracing::warn!(
            connector = %connector.name,
            "policies took too long: some clients were not told of a change"
        );
    }
}

/// A caller with its rights, and where its sessions are told something.
type Told = (Arc<Caller>, Vec<Arc<dyn Outbox>>);

fn by_caller(listeners: Vec<Listener>) -> Vec<Told> {
    let mut callers: IndexMap<Arc<str>, Told> = IndexMap::new();
    for listener in listeners {
        let rights = listener.caller.rights.clone();
        let (_, outboxes) = callers.entry(rights).or_insert_with(|| (listener.caller, Vec::new()));
        outboxes.push(listener.outbox);
    }
    callers.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_change_settles_and_later_ones_wait_for_the_period() {
        let now = Instant::now();
        assert_eq!(due(None, now), now + SETTLE);
        assert_eq!(due(Some(now), now), now + PERIOD);
        assert_eq!(due(Some(now), now + PERIOD), now + PERIOD + SETTLE);
    }
}
