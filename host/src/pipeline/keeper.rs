//! Keeps a connector's catalogue: shapes it again whenever an upstream, what clients see of it, or the router changes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::future::select_all;
use tokio::sync::watch;

use super::announce;
use super::connector::Connector;
use super::fallback;
use super::party::PartyId;
use super::port::{Audience, ConnectorView, Offering, Snapshot, UpstreamView};
use super::presence::Presence;
use super::tasks;
use crate::catalogue::{Caching, Catalogue, Shaped};

/// How often a replaced router plugin is looked for.
const ROUTER_CHECK: Duration = Duration::from_millis(500);

/// After so long a router that could not shape is asked again.
const SHAPE_AGAIN: Duration = Duration::from_secs(10);

type Watched = watch::Receiver<Arc<Snapshot>>;

/// An upstream at a moment: what is known of it, and what clients see of it.
type Seen = (Arc<Snapshot>, Presence);

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
    let audience = &*connector.audience;
    tokio::join!(
        keep_shaped(&connector, audience, changed),
        announce::keep(&connector, audience, changes),
        connector.suspended.sweep(),
    );
}

async fn keep_shaped(
    connector: &Connector,
    audience: &dyn Audience,
    changed: watch::Sender<PartyId>,
) {
    let mut watched: Vec<Watched> =
        connector.upstreams.iter().map(|served| served.upstream.watch()).collect();
    // A shape that was made before the connector was served may have failed already.
    let mut again = connector.trouble().map(|_| Instant::now() + SHAPE_AGAIN);
    // Sessions that are opened from now on see nothing else.
    changed.send_replace(audience.mark());
    loop {
        let (seen, next) = look(connector, &mut watched);
        let basis = basis(connector, &seen);
        let same = connector.basis.load().as_deref() == Some(&basis);
        if !same || again.is_some_and(|again| Instant::now() >= again) {
            let shaped = shape(connector, &seen, basis).await;
            // A router may have failed for want of time or memory: nothing has to change for it to succeed.
            again = (!shaped).then(|| Instant::now() + SHAPE_AGAIN);
            // Sessions that are opened from now on have seen nothing else.
            changed.send_replace(audience.mark());
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

async fn reshape(connector: &Connector, seen: &[Seen]) -> bool {
    let generation = connector.generation.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
    let away = seen.iter().map(|(_, presence)| *presence == Presence::Away).collect();
    let (caching, tasks) = (caching(seen), tasks(seen));
    let view = connector_view(connector, seen);
    let names: Vec<Arc<str>> =
        view.upstreams.iter().map(|upstream| upstream.name.clone()).collect();
    let Some(shaped) = ask(connector, &view).await else {
        // The last shape stays; who is away is the host's own knowledge.
        let last = Catalogue::clone(connector.views.whole().catalogue());
        connector
            .views
            .replace(last.with_away(generation, away).with_caching(caching).with_tasks(tasks));
        return false;
    };
    let (catalogue, refused) = Catalogue::compile(generation, names, shaped);
    for error in refused {
        tracing::warn!(connector = %connector.name, "entry left out: {error}");
    }
    tracing::info!(
        connector = %connector.name, generation, entries = catalogue.entries().len(),
        "catalogue shaped"
    );
    connector
        .views
        .replace(catalogue.with_away(generation, away).with_caching(caching).with_tasks(tasks));
    connector.shaped.store(true, Ordering::Release);
    connector.trouble.load().is_none()
}

/// Whether each upstream declares tasks.
fn tasks(seen: &[Seen]) -> Vec<bool> {
    seen.iter()
        .map(|(snapshot, _)| snapshot.offering.as_deref().is_some_and(tasks::declares))
        .collect()
}

/// How long each merged list counts: as long as the shortest part, and not at all while a server may come back.
fn caching(seen: &[Seen]) -> [Caching; 4] {
    let mut all = [None; 4];
    for (snapshot, presence) in seen {
        let parts = match &snapshot.offering {
            Some(offering) if *presence == Presence::Listed => offering.caching,
            _ => [Some(Caching::default()); 4],
        };
        for (list, part) in all.iter_mut().zip(parts) {
            *list = match (*list, part) {
                (Some(one), Some(other)) => Some(Caching::and(one, other)),
                (one, other) => one.or(other),
            };
        }
    }
    all.map(Option::unwrap_or_default)
}

/// The router's shape, or the native one while there never was another; none where the last one has to stay.
async fn ask(connector: &Connector, view: &ConnectorView) -> Option<Shaped> {
    let fault = match connector.router.shape(view.clone()).await {
        Ok(shaped) => {
            connector.router_shaped.store(true, Ordering::Release);
            connector.trouble.store(None);
            return Some(shaped);
        }
        Err(fault) => fault,
    };
    let first = !connector.router_shaped.load(Ordering::Acquire);
    let code = fault.code().as_str();
    tracing::error!(
        connector = %connector.name, plugin = connector.router.name(), code, error = ?fault,
        "the router could not shape the catalogue; {}",
        if first { "names are plain prefixes" } else { "the last shape stays" },
    );
    let trouble =
        format!("the router {} could not shape the catalogue ({code})", connector.router.name());
    connector.trouble.store(Some(Arc::new(trouble)));
    first.then(|| fallback::prefix_only(view))
}

fn connector_view(connector: &Connector, seen: &[Seen]) -> ConnectorView {
    let upstreams = connector
        .upstreams
        .iter()
        .zip(seen)
        .map(|(served, (snapshot, presence))| {
            let up = *presence == Presence::Listed;
            let name = served.upstream.name().clone();
            upstream_view(name, served.settings.clone(), up, snapshot.offering.as_deref())
        })
        .collect();
    let status = ("status".into(), if connector.status { "true" } else { "false" }.into());
    ConnectorView {
        name: connector.name.clone(),
        description: connector.description.clone(),
        upstreams,
        attributes: vec![status],
    }
}

fn upstream_view(
    name: Arc<str>,
    settings: Arc<str>,
    up: bool,
    offering: Option<&Offering>,
) -> UpstreamView {
    let Some(offering) = offering else {
        return UpstreamView { name, up, settings, ..UpstreamView::default() };
    };
    UpstreamView {
        name,
        settings,
        up,
        server_name: offering.server_name.clone(),
        tools: offering.tools.clone(),
        prompts: offering.prompts.clone(),
        resources: offering.resources.clone(),
        templates: offering.templates.clone(),
        documents: Vec::new(),
    }
}
