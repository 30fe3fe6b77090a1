//! Keeps a connector's catalogue: shapes it again whenever an upstream, what clients see of it, or the router changes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::future::select_all;
use tokio::sync::watch;

use super::connector::Connector;
use super::party::PartyId;
use super::port::{Audience, Offering, Snapshot};
use super::presence::Presence;
use super::shaping::{Seen, reshape};
use super::{announce, variants};

/// How often a replaced router plugin is looked for.
const ROUTER_CHECK: Duration = Duration::from_millis(500);

/// After so long a router that could not shape is asked again.
const SHAPE_AGAIN: Duration = Duration::from_secs(10);

type Watched = watch::Receiver<Arc<Snapshot>>;

/// What a shape was made of: when nothing of it differs, the shape does not either.
#[derive(Debug, PartialEq)]
pub(super) struct Basis {
    router: u64,
    upstreams: Vec<(Presence, Option<Arc<Offering>>)>,
}

/// Keeps the catalogue, tells clients of its changes, and gives up calls that wait for input too long; runs until the task is dropped. To be started once the connector is
/// the one that is served: what changed is told to the sessions that are open at that moment.
pub async fn keep(connector: Arc<Connector>) {
    let (changed, changes) = watch::channel(PartyId(0));
    let (shaped, shapes) = watch::channel(0);
    let audience = &*connector.audience;
    tokio::join!(
        keep_shaped(&connector, audience, &changed, shaped),
        variants::keep(&connector, audience, shapes, &changed),
        announce::keep(&connector, audience, changes),
        connector.suspended.sweep(),
    );
}

async fn keep_shaped(
    connector: &Connector,
    audience: &dyn Audience,
    changed: &watch::Sender<PartyId>,
    shaped: watch::Sender<u64>,
) {
    let mut watched: Vec<Watched> =
        connector.upstreams.iter().map(|served| served.upstream.watch()).collect();
    // A shape that was made before the connector was served may have failed already.
    let mut again = connector.trouble().map(|_| Instant::now() + SHAPE_AGAIN);
    // Sessions that are opened from now on see nothing else.
    changed.send_replace(audience.mark());
    // Clients of the connector that this one replaced may see something else here.
    shaped.send_modify(|times| *times += 1);
    let mut variants = Vec::new();
    loop {
        let (seen, next) = look(connector, &mut watched);
        let basis = basis(connector, &seen);
        let same = connector.basis.load().as_deref() == Some(&basis);
        if !same || again.is_some_and(|again| Instant::now() >= again) {
            let is_shaped = shape(connector, &seen, basis).await;
            // A router may have failed for want of time or memory: nothing has to change for it to succeed.
            again = (!is_shaped).then(|| Instant::now() + SHAPE_AGAIN);
            // Sessions that are opened from now on have seen nothing else.
            changed.send_replace(audience.mark());
            variants.clear();
        }
        let now: Vec<u64> = seen.iter().map(|(snapshot, _)| snapshot.variants).collect();
        if variants != now {
            variants = now;
            shaped.send_modify(|times| *times += 1);
        }
        wait(&mut watched, next).await;
    }
}

/// Shapes once, with what is known of the upstreams now; nobody is told.
pub async fn shape_now(connector: &Connector) {
    let mut watched: Vec<Watched> =
        connector.upstreams.iter().map(|served| served.upstream.watch()).collect();
    let (seen, _) = look(connector, &mut watched);
    let basis = basis(connector, &seen);
    shape(connector, &seen, basis).await;
}

/// What clients see of each upstream now, and when that changes if nothing else happens.
fn look(connector: &Connector, watched: &mut [Watched]) -> (Vec<Seen>, Option<Instant>) {
    let now = Instant::now();
    let mut next: Option<Instant> = None;
    let seen = connector.upstreams.iter().zip(watched).map(|(served, watch)| {
        let snapshot = watch.borrow_and_update().clone();
        let (presence, changes) = Presence::of(&snapshot, served.absence, now);
        next = [next, changes].into_iter().flatten().min();
        (snapshot, presence)
    });
    (seen.collect(), next)
}

/// Until an upstream changes, or time changes what is seen of one, or it is time to look at the router.
async fn wait(watched: &mut [Watched], next: Option<Instant>) {
    let tick = Instant::now() + ROUTER_CHECK;
    let tick = next.map_or(tick, |next| next.min(tick));
    let tick = tokio::time::sleep_until(tick.into());
    if watched.is_empty() {
        return tick.await;
    }
    let changes = watched.iter_mut().map(|watch| {
        Box::pin(async move {
            if watch.changed().await.is_err() {
                // The upstream is gone for good; there is nothing to wait for.
                std::future::pending::<()>().await;
            }
        })
    });
    tokio::select! {
        _ = select_all(changes) => {}
        () = tick => {}
    }
}

fn basis(connector: &Connector, seen: &[Seen]) -> Basis {
    let upstreams =
        seen.iter().map(|(snapshot, presence)| (*presence, snapshot.offering.clone())).collect();
    Basis { router: connector.router.generation(), upstreams }
}

/// Says whether the router did it.
async fn shape(connector: &Connector, seen: &[Seen], basis: Basis) -> bool {
    let shaped = reshape(connector, seen).await;
    connector.basis.store(Some(Arc::new(basis)));
    connector.announced.note(connector.views.whole().catalogue());
    for (considered, (snapshot, _)) in connector.considered.iter().zip(seen) {
        considered.fetch_or(snapshot.offering.is_some(), Ordering::Release);
    }
    shaped
}
