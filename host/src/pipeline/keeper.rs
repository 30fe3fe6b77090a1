//! Keeps a connector's catalogue: shapes it again whenever an upstream or the router changes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::future::select_all;
use tokio::sync::watch;

use super::connector::Connector;
use super::fallback;
use super::port::{ConnectorView, Offering, Phase, Snapshot, UpstreamView};
use crate::catalogue::Catalogue;

/// How often a replaced router plugin is looked for.
const ROUTER_CHECK: Duration = Duration::from_millis(500);

/// After so long a router that could not shape is asked again.
const SHAPE_AGAIN: Duration = Duration::from_secs(10);

type Watched = watch::Receiver<Arc<Snapshot>>;

/// What a shape was made of: when nothing of it differs, the shape does not either.
#[derive(PartialEq)]
struct Basis {
    router: u64,
    upstreams: Vec<(bool, Option<usize>)>,
}

/// Runs until the task is dropped.
pub async fn keep(connector: Arc<Connector>) {
    let mut watched: Vec<Watched> =
        connector.upstreams.iter().map(|served| served.upstream.watch()).collect();
    let mut last: Option<Basis> = None;
    let mut again: Option<Instant> = None;
    loop {
        let snapshots: Vec<Arc<Snapshot>> =
            watched.iter_mut().map(|watch| watch.borrow_and_update().clone()).collect();
        let basis = basis(&connector, &snapshots);
        let due =
            last.as_ref() != Some(&basis) || again.is_some_and(|again| Instant::now() >= again);
        if due {
            let shaped = shape(&connector, &snapshots).await;
            // A router may have failed for want of time or memory: nothing has to change for it to succeed.
            again = (!shaped).then(|| Instant::now() + SHAPE_AGAIN);
            last = Some(basis);
        }
        wait(&mut watched).await;
    }
}

/// Shapes once, with what is known of the upstreams now.
pub async fn shape_now(connector: &Connector) {
    let watches = connector.upstreams.iter().map(|served| served.upstream.watch());
    let snapshots: Vec<Arc<Snapshot>> = watches.map(|watch| watch.borrow().clone()).collect();
    shape(connector, &snapshots).await;
}

/// Until an upstream changes, or it is time to look at the router.
async fn wait(watched: &mut [Watched]) {
    let tick = tokio::time::sleep(ROUTER_CHECK);
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

fn basis(connector: &Connector, snapshots: &[Arc<Snapshot>]) -> Basis {
    let upstreams = snapshots
        .iter()
        .map(|snapshot| {
            let offering = snapshot.offering.as_ref().map(|offering| Arc::as_ptr(offering).addr());
            (snapshot.phase == Phase::Connected, offering)
        })
        .collect();
    Basis { router: connector.router.generation(), upstreams }
}

/// Says whether the router did it.
async fn shape(connector: &Connector, snapshots: &[Arc<Snapshot>]) -> bool {
    let shaped = reshape(connector, snapshots).await;
    for (considered, snapshot) in connector.considered.iter().zip(snapshots) {
        considered.fetch_or(snapshot.offering.is_some(), Ordering::Release);
    }
    shaped
}

async fn reshape(connector: &Connector, snapshots: &[Arc<Snapshot>]) -> bool {
    let generation = connector.generation.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
    let view = connector_view(connector, snapshots);
    let names: Vec<Arc<str>> =
        view.upstreams.iter().map(|upstream| upstream.name.clone()).collect();
    let shaped = match connector.router.shape(view.clone()).await {
        Ok(shaped) => {
            connector.router_shaped.store(true, Ordering::Release);
            connector.trouble.store(None);
            shaped
        }
        Err(fault) => {
            let first = !connector.router_shaped.load(Ordering::Acquire);
            tracing::error!(
                connector = %connector.name, plugin = connector.router.name(),
                code = fault.code().as_str(), error = ?fault,
                "the router could not shape the catalogue; {}",
                if first { "names are plain prefixes" } else { "the last shape stays" },
            );
            let code = fault.code().as_str();
            let trouble = format!(
                "the router {} could not shape the catalogue ({code})",
                connector.router.name()
            );
            connector.trouble.store(Some(Arc::new(trouble)));
            if !first {
                return false;
            }
            fallback::prefix_only(&view)
        }
    };
    let (catalogue, refused) = Catalogue::compile(generation, names, shaped);
    for error in refused {
        tracing::warn!(connector = %connector.name, "entry left out: {error}");
    }
    tracing::info!(
        connector = %connector.name, generation, entries = catalogue.entries().len(),
        "catalogue shaped"
    );
    connector.views.replace(catalogue);
    connector.shaped.store(true, Ordering::Release);
    connector.trouble.load().is_none()
}

fn connector_view(connector: &Connector, snapshots: &[Arc<Snapshot>]) -> ConnectorView {
    let upstreams = connector
        .upstreams
        .iter()
        .zip(snapshots)
        .map(|(served, snapshot)| {
            let up = snapshot.phase == Phase::Connected;
            let name = served.upstream.name().clone();
            upstream_view(name, served.settings.clone(), up, snapshot.offering.as_deref())
        })
        .collect();
    let description = connector.description.clone();
    ConnectorView { name: connector.name.clone(), description, upstreams }
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
