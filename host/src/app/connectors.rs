//! Connectors out of the settings, new ones and those of a changed configuration.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::error::StartError;
use super::ground::Ground;
use super::plugins::Plugins;
use super::upstreams::{self, Running as RunningUpstream};
use crate::config::{Artifacts, ConnectorSettings, LazySettings, Settings, Target};
use crate::pipeline::artifacts::{Rules, Who};
use crate::pipeline::port::{Auditor, Policy, Router};
use crate::pipeline::{Connector, Lazy, Served, Waiting, keeper};

/// How long a start waits for servers without which the router cannot say whether the configuration fits.
const PENDING: Duration = Duration::from_secs(10);

/// A connector that is served, and what it was made of.
#[derive(Clone)]
pub(super) struct Running {
    pub(super) settings: ConnectorSettings,
    pub(super) connector: Arc<Connector>,
    pub(super) upstreams: Vec<RunningUpstream>,
    /// Ends the task that keeps the catalogue.
    keeping: CancellationToken,
}

/// What becomes of a connector about which the operator wrote what does not fit its servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfits {
    /// It is not served, unless servers that register themselves may still make it fit.
    Refused,
    /// It is served as far as it fits; the log and `/ready` say the rest.
    Told,
}

/// What a changed configuration leads to, before anybody is served by it.
pub(super) struct Draft {
    settings: ConnectorSettings,
    upstreams: Vec<RunningUpstream>,
    plugins: (Arc<dyn Router>, Vec<Arc<dyn Policy>>),
}

impl Draft {
    /// Finds the plugins.
    pub(super) async fn new(
        settings: &ConnectorSettings,
        upstreams: Vec<RunningUpstream>,
        plugins: &Plugins,
    ) -> Result<Self, StartError> {
        let router = plugins.router(&settings.name, &settings.router).await?;
        let policies = plugins.policies(settings).await?;
        Ok(Self { settings: settings.clone(), upstreams, plugins: (router, policies) })
    }

    /// Waits until the servers that were started answered, or can be given up for the moment.
    pub(super) async fn settle(&self, limit: Duration) {
        settled(&self.upstreams, limit).await;
    }

    /// The connector; `before` is the one that it replaces. Its catalogue is shaped before anybody sees it; fails where the
    /// router says that the configuration does not fit the servers, and `misfits` are refused.
    pub(super) async fn finish(
        self,
        before: Option<&Running>,
        (limits, misfits): (&Settings, Misfits),
        ground: &Ground,
    ) -> Result<Running, StartError> {
        let served: Vec<Served> =
            self.upstreams.iter().map(|upstream| upstream.served.clone()).collect();
        let (router, policies) = self.plugins;
        let (name, description) = (self.settings.name.clone(), self.settings.description.clone());
        let mut connector = Connector::new(name, description, served, router, policies);
        connector.waiting = waiting(&self.settings);
        connector.review_max = limits.limits.review_max;
        connector.status = self.settings.status;
        connector.confirm_timeout = self.settings.confirm_timeout;
        connector.lazy = self.settings.discovery.as_ref().map(lazy);
        connector.audience = ground.sessions.clone();
        let auditor = ground.audit.clone();
        connector.auditor = auditor.map(|ledger| -> Arc<dyn Auditor> { ledger });
        connector.links =
            self.settings.artifacts.as_ref().map(|written| links(written, &self.settings.path));
        connector.server_info = self.settings.server_info.to_json().into();
        if let Some(before) = before {
            connector.succeed(&before.connector);
        }
        keeper::shape_now(&connector).await;
        if connector.pending() && before.is_none() {
            // Who does not answer in time is judged when it comes, and ends nothing then.
            settled(&self.upstreams, PENDING).await;
            keeper::shape_now(&connector).await;
        }
        let problems = connector.problems();
        let may_come = self.settings.registry.as_ref().is_some_and(|own| !own.names.is_empty());
        // What is held back may be what the operator wrote about.
        let may_come = may_come || self.upstreams.iter().any(RunningUpstream::holds);
        if !problems.is_empty() && misfits == Misfits::Refused && !may_come {
            return Err(StartError::Misfit { problems: problems.to_vec() });
        }
        Ok(Running {
            settings: self.settings,
            connector: Arc::new(connector),
            upstreams: self.upstreams,
            keeping: CancellationToken::new(),
        })
    }
}

/// Upstreams of which a lease is still to say where they are.
fn waiting(settings: &ConnectorSettings) -> Vec<Waiting> {
    let all = settings.upstreams.iter().enumerate();
    let waiting = all.filter(|(_, one)| matches!(one.target, Target::Leased(_)));
    let waiting = waiting.map(|(place, one)| Waiting {
        place,
        name: one.name.clone(),
        settings: one.naming.to_json().into(),
    });
    waiting.collect()
}

/// How links to files are shown at this path.
fn links(written: &Artifacts, path: &Arc<str>) -> Arc<Rules> {
    let public = written.public.as_ref().map(|url| format!("{url}{path}").into());
    let who = if written.open { Who::Holder } else { Who::Caller };
    Arc::new(Rules { who, lifetime: written.lifetime, public, path: path.clone() })
}

impl Running {
    /// Serves under its name, and keeps the catalogue until the connector is replaced or plugway stops.
    pub(super) fn keep(&self, ground: &Ground) {
        self.connector.serve();
        let (connector, keeping) = (self.connector.clone(), self.keeping.clone());
        ground.beside(async move {
            keeping.run_until_cancelled(keeper::keep(connector)).await;
        });
    }

    /// Whether both are the same generation of a connector.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.connector, &other.connector)
    }

    /// Lets the catalogue be: another one took over.
    pub(super) fn retire(&self) {
        self.keeping.cancel();
    }
}

fn lazy(settings: &LazySettings) -> Arc<Lazy> {
    let LazySettings { residents, cap, idle } = settings;
    Arc::new(Lazy { residents: residents.clone(), cap: *cap, idle: *idle })
}

/// Waits until these answered, or can be given up for the moment.
async fn settled(upstreams: &[RunningUpstream], limit: Duration) {
    join_all(upstreams.iter().map(|upstream| upstream.settle(limit))).await;
}

/// The upstreams of a connector: those that run already and are the same server, and new ones. What waits for a lease is
/// not among them.
pub(super) fn upstreams(
    settings: &ConnectorSettings,
    running: &[RunningUpstream],
    ground: &Ground,
) -> Result<Vec<RunningUpstream>, StartError> {
    let one = |wanted| {
        let same = running.iter().find(|running| running.serves(wanted));
        let pinned = (&settings.name, wanted.pin.unwrap_or(settings.pin));
        match same {
            Some(running) => Ok(running.renamed(wanted, pinned, ground)),
            None => upstreams::start(wanted, pinned, ground),
        }
    };
    let there = settings.upstreams.iter();
    there.filter(|wanted| !matches!(wanted.target, Target::Leased(_))).map(one).collect()
}
