//! The site: what the listener serves, as it is configured now.

use std::collections::HashMap;
use std::sync::Arc;

use super::connectors::Running;
use super::ground::Ground;
use super::metrics;
use crate::config::{self, Settings};
use crate::pipeline::port::Authenticator;
use crate::plugin::Runtime;
use crate::registry::{Desk, Rules};
use crate::transport::Bounds;
use crate::transport::annex::Annex;
use crate::transport::guard::Hosts;
use crate::transport::site::{Endpoint, Site};

/// Gives the sentences about what is not as the operator wants it.
pub(super) type Trouble = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// What a site is made of besides the settings.
pub(super) struct Parts<'a> {
    pub(super) ground: &'a Ground,
    pub(super) runtime: &'a Arc<Runtime>,
    pub(super) trouble: &'a Trouble,
    /// Identifies callers.
    pub(super) auth: Option<Arc<dyn Authenticator>>,
    /// What the file says, without servers that registered themselves.
    pub(super) file: &'a Settings,
}

/// The site of these settings. `before` is the one that it replaces: strangers stay the strangers that they were.
pub(super) fn site(
    settings: &Settings,
    connectors: &[Running],
    before: Option<&Site>,
    Parts { ground, runtime, trouble, auth, file }: Parts<'_>,
) -> Site {
    let mut endpoints = HashMap::new();
    for running in connectors {
        let path = format!("{}/mcp", running.settings.path).into_boxed_str();
        let known = before.and_then(|site| {
            let mut endpoints = site.endpoints.values();
            endpoints.find(|endpoint| endpoint.connector.name == running.connector.name)
        });
        let strangers =
            known.map_or_else(|| ground.sessions.next_party(), |endpoint| endpoint.strangers);
        let (connector, anonymous) = (running.connector.clone(), running.settings.anonymous);
        endpoints.insert(path, Endpoint { connector, strangers, anonymous });
    }
    let hosts = match &settings.listen.hosts {
        config::Hosts::Any => Hosts::Any,
        config::Hosts::Listed(names) => Hosts::Listed(names.clone()),
    };
    let bounds = Bounds {
        body: settings.limits.max_body,
        body_time: settings.limits.body_timeout,
        ..Bounds::default()
    };
    let (measured, broken, trouble) = (runtime.clone(), runtime.clone(), trouble.clone());
    let (leases, troubles) = (ground.leases.clone(), ground.troubles.clone());
    let (counted, audit) = (ground.audit.clone(), ground.audit.clone());
    let (pins, changed) = (ground.pins.clone(), ground.pins.clone());
    Site {
        endpoints,
        annexes: annexes(file, ground),
        channels: ground.channels.clone(),
        sessions: ground.sessions.clone(),
        auth,
        hosts,
        bounds,
        counts: ground.counts.clone(),
        metrics: Box::new(move |site| {
            let audit = counted.as_ref().map(|ledger| ledger.counts()).unwrap_or_default();
            metrics::render(site, &measured, (&leases, &pins), audit)
        }),
        degraded: Box::new(move || {
            let degraded = broken.degraded();
            let plugins = degraded.iter().map(|(plugin, why)| format!("{plugin}: {why}"));
            let audit = audit.as_ref().and_then(|ledger| ledger.trouble());
            let others = trouble().into_iter().chain(troubles.all()).chain(changed.sentences());
            plugins.chain(others).chain(audit).collect()
        }),
    }
}

/// The registries of the connectors that have one, by path.
fn annexes(file: &Settings, ground: &Ground) -> HashMap<Box<str>, Arc<dyn Annex>> {
    let one = |connector: &config::ConnectorSettings| {
        let rules = Rules::of(connector)?;
        let path = format!("{}/registry/v1/servers", connector.path).into_boxed_str();
        let (book, own) = (ground.leases.clone(), ground.own.clone());
        let desk: Arc<dyn Annex> = Arc::new(Desk { rules, book, own });
        Some((path, desk))
    };
    file.connectors.iter().filter_map(one).collect()
}
