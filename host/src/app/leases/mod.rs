//! Puts servers in place that register themselves, and takes them out when their leases lapse.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::timeout;

use super::ground::Ground;
use super::reload::Reloader;
use super::upstreams;
use crate::config::Pin;
use crate::pipeline::port::Offering;
use crate::registry::lapse::weighed;
use crate::registry::{Trial, Verdict, lapse, same_tools};
use crate::transport::Site;

/// The wait for further changes before one is put in place.
const SETTLE: Duration = Duration::from_millis(100);
/// The time between two changes that are put in place.
const PERIOD: Duration = Duration::from_millis(500);
/// After so long, leases that could not be put in place are tried again.
const AGAIN: Duration = Duration::from_secs(10);
/// Other addresses that are looked at at once.
const LOOKS: usize = 4;
/// How long one look may take.
const LOOK: Duration = Duration::from_secs(30);

/// Keeps what is served as the leases say; runs until the task is dropped.
pub(super) async fn keep(ground: Ground, site: Arc<ArcSwap<Site>>, reloader: Reloader) {
    let book = ground.leases.clone();
    let mut looks = FuturesUnordered::new();
    let mut applied = book.revision();
    let mut due: Option<Instant> = None;
    let mut last: Option<Instant> = None;
    loop {
        let now = Instant::now();
        lapse(&book, now);
        for trial in book.trials(LOOKS.saturating_sub(looks.len())) {
            looks.push(look(trial, &site, &ground));
        }
        if book.revision() != applied {
            let settled = now + SETTLE;
            let soonest = last.map_or(settled, |last| settled.max(last + PERIOD));
            due = Some(due.map_or(soonest, |due| due.min(soonest)));
        }
        if due.is_some_and(|due| due <= now) {
            applied = book.revision();
            // Why nothing changed stands in the log.
            due = reloader.leases().await.is_err().then(|| Instant::now() + AGAIN);
            last = Some(Instant::now());
            continue;
        }
        let next = [due, book.next_end()].into_iter().flatten().min();
        tokio::select! {
            () = book.changed() => {}
            () = until(next) => {}
            Some((trial, verdict)) = looks.next() => {
                if let Some(lease) = book.judged(&trial, verdict) {
                    weighed(&trial.connector, &lease);
                }
            }
        }
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// Looks whether the server at another address offers what is served. What never offered anything is not missed.
async fn look(trial: Trial, site: &ArcSwap<Site>, ground: &Ground) -> (Trial, Verdict) {
    let served = site.load_full().connector(&trial.connector).and_then(|connector| {
        let place = connector.place_of(&trial.name)?;
        connector.upstreams.get(place)?.snapshot().offering.clone()
    });
    let verdict = match served {
        None => Verdict::Same,
        Some(served) => match offered(&trial, ground).await {
            None => {
                let text = "It does not answer there; it is looked at again with the next renewal.";
                Verdict::Held(text.into())
            }
            Some(other) => match same_tools(&served.tools, &other.tools) {
                Ok(()) => Verdict::Same,
                Err(why) => Verdict::Held(why.into()),
            },
        },
    };
    (trial, verdict)
}

/// What the server at another address offers; none where it does not say so in time.
async fn offered(trial: &Trial, ground: &Ground) -> Option<Arc<Offering>> {
    // Nobody is shown what it offers.
    let pinned = (&trial.connector, Pin::Off);
    let started = upstreams::start(&trial.settings, pinned, ground);
    let running = started
        .inspect_err(|error| tracing::warn!(upstream = %trial.name, "no look at a lease: {error}"))
        .ok()?;
    let mut watch = running.served.upstream.watch();
    let tried = timeout(LOOK, watch.wait_for(|now| now.was_tried())).await;
    let offering = tried.ok().and_then(Result::ok).and_then(|snapshot| snapshot.offering.clone());
    running.served.upstream.shut_down().await;
    offering
}

#[cfg(test)]
mod tests;
