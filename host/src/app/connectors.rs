//! Connectors out of the settings.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::error::StartError;
use super::plugins::Plugins;
use super::upstreams;
use crate::config::{ConnectorSettings, Settings};
use crate::pipeline::{Connector, Served};

/// Starts every upstream. They connect while plugins are still being loaded.
pub(super) fn upstreams(
    settings: &Settings,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) -> Result<Vec<Vec<Served>>, StartError> {
    let start = |connector: &ConnectorSettings| {
        connector.upstreams.iter().map(|upstream| upstreams::start(upstream, stop, tasks)).collect()
    };
    settings.connectors.iter().map(start).collect()
}

/// Puts upstreams and plugins together.
pub(super) async fn build(
    settings: &ConnectorSettings,
    upstreams: Vec<Served>,
    plugins: &Plugins,
    review_max: usize,
) -> Result<Arc<Connector>, StartError> {
    let router = plugins.router(&settings.name, &settings.router).await?;
    let mut policies = Vec::with_capacity(settings.policies.len());
    for place in &settings.policies {
        policies.push(plugins.policy(&settings.name, place).await?);
    }
    let (name, description) = (settings.name.clone(), settings.description.clone());
    let mut connector = Connector::new(name, description, upstreams, router, policies);
    connector.review_max = review_max;
    Ok(Arc::new(connector))
}
