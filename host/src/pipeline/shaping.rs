//! Makes catalogues of what servers offer: the router shapes them, and what the host knows itself is added.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::connector::Connector;
use super::fallback;
use super::port::{ConnectorView, Offering, Snapshot, UpstreamView};
use super::presence::Presence;
use super::{room, tasks};
use crate::catalogue::{Caching, Catalogue, Declared, Entry, Held, Shaped};

/// An upstream at a moment: what is known of it, and what clients see of it.
pub(super) type Seen = (Arc<Snapshot>, Presence);

/// Makes everybody's catalogue anew; says whether the router did it.
pub(super) async fn reshape(connector: &Connector, seen: &[Seen]) -> bool {
    let view = connector_view(connector, seen);
    let Some(shaped) = ask(connector, &view).await else {
        // The last shape stays; who is away is the host's own knowledge.
        let last = Catalogue::clone(connector.views.whole().catalogue());
        connector.views.replace(finished(connector, last, seen));
        return false;
    };
    note(connector, &shaped);
    let catalogue = compiled(connector, shaped, seen);
    tracing::info!(
        connector = %connector.name, generation = catalogue.generation,
        entries = catalogue.entries().len(), "catalogue shaped"
    );
    connector.views.replace(catalogue);
    connector.shaped.store(true, Ordering::Release);
    connector.trouble.load().is_none()
}

/// Keeps what the router found wrong with the configuration, and says in the log what is new of it.
fn note(connector: &Connector, shaped: &Shaped) {
    connector.pending.store(shaped.pending, Ordering::Release);
    let before = connector.problems.load();
    if **before == shaped.problems {
        return;
    }
    for problem in shaped.problems.iter().filter(|problem| !before.contains(problem)) {
        let (name, plugin) = (&connector.name, connector.router.name());
        tracing::warn!(connector = %name, plugin, "the configuration does not fit the servers: {problem}");
    }
    connector.problems.store(Arc::new(shaped.problems.clone()));
}

/// The catalogue for clients to whom these upstreams offer something else than to everybody; none where the router does not
/// shape it.
pub(super) async fn shape_for(
    connector: &Connector,
    offerings: &[Option<Arc<Offering>>],
) -> Option<Catalogue> {
    let now = Instant::now();
    let seen = connector.upstreams.iter().zip(offerings).map(|(served, own)| {
        let mut snapshot = served.snapshot();
        let (presence, _) = Presence::of(&snapshot, served.absence, now);
        if let Some(own) = own {
            Arc::make_mut(&mut snapshot).offering = Some(own.clone());
        }
        (snapshot, presence)
    });
    let seen: Vec<Seen> = seen.collect();
    let view = connector_view(connector, &seen);
    let shaped = match connector.router.shape(view.clone()).await {
        Ok(shaped) => shaped,
        Err(_told) if !connector.router_shaped.load(Ordering::Acquire) => {
            fallback::prefix_only(&view)
        }
        Err(fault) => {
            tracing::warn!(
                connector = %connector.name, plugin = connector.router.name(), error = ?fault,
                "the router could not shape the catalogue for some clients: they see everybody's"
            );
            return None;
        }
    };
    Some(compiled(connector, shaped, &seen))
}

fn compiled(connector: &Connector, shaped: Shaped, seen: &[Seen]) -> Catalogue {
    let upstreams = connector.upstreams.iter();
    let names: Vec<Arc<str>> = upstreams.map(|served| served.upstream.name().clone()).collect();
    let (catalogue, refused) = Catalogue::compile(0, names, shaped);
    for error in refused {
        tracing::warn!(connector = %connector.name, "entry left out: {error}");
    }
    finished(connector, catalogue, seen)
}

/// The catalogue as the next generation, with what is the host's own knowledge.
fn finished(connector: &Connector, catalogue: Catalogue, seen: &[Seen]) -> Catalogue {
    let generation = connector.generation.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
    let away = seen.iter().map(|(_, presence)| *presence == Presence::Away).collect();
    let residents = connector.lazy.as_ref().map(|lazy| |entry: &Entry| lazy.keeps(entry));
    let catalogue = catalogue.with_residents(residents);
    let catalogue = catalogue.with_away(generation, away).with_caching(caching(seen));
    let mut offerings = seen.iter().filter_map(|(snapshot, _)| snapshot.offering.as_deref());
    let veiled = offerings.any(|offering| offering.veiled.is_some());
    let catalogue = catalogue.with_tasks(tasks(seen)).with_declared(declared(seen), veiled);
    catalogue.with_held(held(seen))
}

/// What of each upstream is held back.
fn held(seen: &[Seen]) -> Vec<Arc<Held>> {
    let held = |(snapshot, _): &Seen| {
        snapshot.offering.as_ref().map(|offering| offering.held.clone()).unwrap_or_default()
    };
    seen.iter().map(held).collect()
}

/// What each upstream declares.
fn declared(seen: &[Seen]) -> Vec<Option<Declared>> {
    seen.iter()
        .map(|(snapshot, _)| {
            let offering = snapshot.offering.as_deref()?;
            let (revision, capabilities) = (offering.revision?, offering.capabilities.clone());
            Some(Declared { revision, capabilities })
        })
        .collect()
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
    let mut upstreams = connector
        .upstreams
        .iter()
        .zip(seen)
        .map(|(served, (snapshot, presence))| {
            let up = *presence == Presence::Listed;
            let name = served.upstream.name().clone();
            upstream_view(name, served.settings.clone(), up, snapshot.offering.as_deref())
        })
        .collect::<Vec<_>>();
    for (upstream, left) in room::fit(&mut upstreams, connector.router.room()) {
        tracing::warn!(
            connector = %connector.name, %upstream, left,
            "the server lists more than its part of what one connector can have: the last entries are left out"
        );
    }
    for waiting in &connector.waiting {
        let (name, settings) = (waiting.name.clone(), waiting.settings.clone());
        let place = waiting.place.min(upstreams.len());
        upstreams.insert(place, upstream_view(name, settings, false, None));
    }
    let status = ("status".into(), if connector.status { "true" } else { "false" }.into());
    let discovery = if connector.lazy.is_some() { "lazy" } else { "eager" };
    ConnectorView {
        name: connector.name.clone(),
        description: connector.description.clone(),
        upstreams,
        attributes: vec![status, ("discovery".into(), discovery.into())],
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
        documents: offering.documents.clone(),
    }
}
