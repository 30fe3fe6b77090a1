//! The life of the process: bind, build, serve, end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::chores;
use super::connectors;
use super::error::StartError;
use super::metrics;
use super::plugins::Plugins;
use crate::config::{self, Settings};
use crate::listener::{self, ListenerLimits};
use crate::plugin::Runtime;
use crate::session::{SessionLimits, Sessions};
use crate::transport::Bounds;
use crate::transport::guard::Hosts;
use crate::transport::site::{Endpoint, Site};

/// Serves until `stop` is cancelled.
pub async fn serve(settings: &Settings, stop: CancellationToken) -> Result<(), StartError> {
    let address = settings.listen.address;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| StartError::Listen { address, source })?;
    // Upstreams outlive the listener, so that calls in flight can end.
    let (upstream_stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let upstreams = connectors::upstreams(settings, &upstream_stop, &tasks)?;
    let plugins = Plugins::load(settings).await?;

    let sessions = sessions(settings)?;
    let mut endpoints = HashMap::new();
    let review_max = settings.limits.review_max;
    for (settings, upstreams) in settings.connectors.iter().zip(upstreams) {
        let connector = connectors::build(settings, upstreams, &plugins, review_max).await?;
        let path = format!("{}/mcp", settings.path).into_boxed_str();
        endpoints.insert(path, Endpoint { connector, strangers: sessions.next_party() });
    }
    let site = site(settings, endpoints, sessions, plugins.runtime.clone());
    let site = Arc::new(ArcSwap::from_pointee(site));
    chores::start(&site, &plugins, &upstream_stop, &tasks);
    chores::close_streams(&site, &stop, &tasks);

    let limits = ListenerLimits {
        connections: settings.limits.max_connections,
        head_time: settings.limits.header_timeout,
        drain_time: settings.limits.shutdown_grace,
    };
    let bound = listener.local_addr().unwrap_or(address);
    tracing::info!(address = %bound, "listening");
    listener::serve(listener, site.clone(), limits, stop).await;
    tracing::info!("stopping");
    upstream_stop.cancel();
    chores::farewell(&site.load_full(), &tasks).await;
    Ok(())
}

fn sessions(settings: &Settings) -> Result<Arc<Sessions>, StartError> {
    let limits =
        SessionLimits { max: settings.limits.max_sessions, idle: settings.limits.session_idle };
    let start = Instant::now();
    let clock = Box::new(move || u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
    Ok(Arc::new(Sessions::new(limits, clock)?))
}

fn site(
    settings: &Settings,
    endpoints: HashMap<Box<str>, Endpoint>,
    sessions: Arc<Sessions>,
    runtime: Arc<Runtime>,
) -> Site {
    let hosts = match &settings.listen.hosts {
        config::Hosts::Any => Hosts::Any,
        config::Hosts::Listed(names) => Hosts::Listed(names.clone()),
    };
    let bounds = Bounds {
        body: settings.limits.max_body,
        body_time: settings.limits.body_timeout,
        ..Bounds::default()
    };
    let measured = runtime.clone();
    Site {
        endpoints,
        sessions,
        hosts,
        bounds,
        counts: Arc::default(),
        metrics: Box::new(move |site| metrics::render(site, &measured)),
        degraded: Box::new(move || {
            let degraded = runtime.degraded();
            degraded.iter().map(|(plugin, why)| format!("{plugin}: {why}")).collect()
        }),
    }
}
