//! What runs beside the requests.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::audit;
use super::ground::Ground;
use super::plugins::Plugins;
use crate::pipeline::Connector;
use crate::session::{CallerParty, Session};
use crate::state::Memory;
use crate::transport::Site;

/// How often idle sessions are looked for, at least; more often where they end sooner.
const SWEEP: Duration = Duration::from_secs(5);
/// How often tools that sessions loaded are looked at, at most; as often as idle sessions where they stay for long.
const SETTLE: Duration = Duration::from_secs(1);
/// How often state of plugins that is over is looked for.
const FORGET: Duration = Duration::from_mins(1);
/// Sessions that are ended at once: each may take a connection to each of its servers.
const ENDING: usize = 64;
/// Time that upstreams get to end sessions and children when plugway stops.
const FAREWELL: Duration = Duration::from_secs(10);

/// Starts everything that runs until `stop`.
pub(super) fn start(site: &Arc<ArcSwap<Site>>, plugins: &Plugins, ground: &Ground) {
    let Ground { stop, tasks, .. } = ground;
    let (watched, until) = (plugins.runtime.clone(), stop.clone());
    tasks.spawn(async move { watched.watch(until).await });
    tasks.spawn(sweep(site.clone(), stop.clone()));
    tasks.spawn(settle(site.clone(), stop.clone()));
    tasks.spawn(forget(plugins.memory.clone(), stop.clone()));
    if let Some(ledger) = &ground.audit {
        ground.beside(audit::settle(ledger.clone()));
    }
}

async fn sweep(site: Arc<ArcSwap<Site>>, stop: CancellationToken) {
    loop {
        let pause = SWEEP.min(site.load().sessions.idle() / 4);
        if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
            return;
        }
        let site = site.load_full();
        end(&site, site.sessions.expired()).await;
        part(&site, site.sessions.expired_parties()).await;
    }
}

/// Sessions of lazy connectors hear of tools that were unloaded because nobody used them, whatever they do meanwhile.
async fn settle(site: Arc<ArcSwap<Site>>, stop: CancellationToken) {
    loop {
        let idle = site.load().connectors().filter_map(|connector| connector.loads_idle()).min();
        let pause = idle.map_or(SWEEP, |idle| (idle / 4).clamp(SETTLE, SWEEP));
        if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
            return;
        }
        let site = site.load_full();
        if site.connectors().all(|connector| connector.loads_idle().is_none()) {
            continue;
        }
        let sessions = |session: &Session| (session.connector.clone(), session.party.clone());
        for (connector, party) in site.sessions.each(sessions) {
            if let Some(connector) = site.connector(&connector) {
                connector.settle(&party);
            }
        }
    }
}

async fn forget(memory: Arc<Memory>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(FORGET) => memory.sweep(),
        }
    }
}

/// Ends sessions that were taken out.
pub(super) async fn end(site: &Site, sessions: Vec<Arc<Session>>) {
    if !sessions.is_empty() {
        tracing::debug!(count = sessions.len(), "sessions ended");
    }
    stream::iter(sessions)
        .for_each_concurrent(ENDING, async |session| {
            session.end(site.connector(&session.connector).map(|c| &**c)).await;
        })
        .await;
}

/// Ends what upstreams keep for callers whose parties were taken out.
pub(super) async fn part(site: &Site, parties: Vec<Arc<CallerParty>>) {
    if !parties.is_empty() {
        tracing::debug!(count = parties.len(), "callers were idle for long");
    }
    stream::iter(parties)
        .for_each_concurrent(ENDING, async |party| {
            party.end(site.connector(&party.connector).map(|c| &**c)).await;
        })
        .await;
}

/// Ends sessions, then upstreams, within a bound.
pub(super) async fn farewell(site: &Site, tasks: &TaskTracker) {
    let ending = async {
        site.connectors().for_each(|connector| connector.give_up());
        end(site, site.sessions.take(|_| true)).await;
        part(site, site.sessions.take_parties(|_| true)).await;
        let connectors: Vec<&Arc<Connector>> = site.connectors().collect();
        let upstreams = connectors.iter().flat_map(|connector| &connector.upstreams);
        join_all(upstreams.map(|served| served.upstream.shut_down())).await;
        tasks.close();
        tasks.wait().await;
    };
    if tokio::time::timeout(FAREWELL, ending).await.is_err() {
        tracing::warn!("stopped before every upstream had ended its sessions");
    }
}
