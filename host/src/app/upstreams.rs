//! Upstreams out of the settings.

use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use tokio::time::timeout;
use tokio_util::sync::DropGuard;

use super::error::StartError;
use super::ground::Ground;
use crate::config::{
    self, Credential, HttpTransport, Pin, Secret, Settings, Target, UpstreamSettings,
    UpstreamTimeouts,
};
use crate::outbound::{Dialer, OwnListeners};
use crate::pins::{Mode, Pinned, Subject};
use crate::pipeline::port::Upstream;
use crate::pipeline::{Absence, Served};
use crate::upstream::{self, Access, Command, Limits, Sharing, Transport, Unusable};

/// How often an upstream that was taken out is looked at for calls that still run.
const LOOK: Duration = Duration::from_millis(50);

/// An upstream that is served, and what it was made of.
#[derive(Clone)]
pub(super) struct Running {
    pub(super) settings: UpstreamSettings,
    pub(super) served: Served,
    /// What `served` is, or what it stands before.
    raw: Arc<dyn Upstream>,
    pin: Pin,
    /// Its keeper ends when nobody holds this any more.
    keeping: Arc<DropGuard>,
}

/// Starts an upstream of a connector; returns before it answers.
pub(super) fn start(
    settings: &UpstreamSettings,
    (connector, pin): (&Arc<str>, Pin),
    ground: &Ground,
) -> Result<Running, StartError> {
    let stop = ground.stop.child_token();
    let raw = translate(settings, connector, &ground.own)
        .and_then(|wanted| upstream::start(&wanted, &stop, &ground.tasks))
        .map_err(|source| {
            let (connector, name) = (connector.clone(), settings.name.clone());
            StartError::Upstream { connector, name, source }
        })?;
    let served = served(pinned(&raw, settings, (connector, pin), ground), settings);
    let keeping = Arc::new(stop.drop_guard());
    Ok(Running { settings: settings.clone(), served, raw, pin, keeping })
}

fn served(upstream: Arc<dyn Upstream>, settings: &UpstreamSettings) -> Served {
    Served {
        upstream,
        settings: settings.naming.to_json().into(),
        instructions: settings.instructions,
        absence: absence(settings),
    }
}

/// The upstream, or what stands before it so that its definitions stay what was seen or approved.
fn pinned(
    raw: &Arc<dyn Upstream>,
    settings: &UpstreamSettings,
    (connector, pin): (&Arc<str>, Pin),
    ground: &Ground,
) -> Arc<dyn Upstream> {
    let mode = match pin {
        Pin::Off => return raw.clone(),
        Pin::Warn => Mode::Warn,
        Pin::Hold => Mode::Hold,
        Pin::Locked => Mode::Locked,
    };
    let subject = Subject { connector: connector.clone(), upstream: settings.name.clone(), mode };
    let life = (&ground.stop, &ground.tasks);
    Arc::new(Pinned::new(raw.clone(), subject, &ground.pins, life))
}

impl Running {
    /// Whether this is the server that is wanted, whatever clients are to see of it.
    pub(super) fn serves(&self, wanted: &UpstreamSettings) -> bool {
        let UpstreamSettings {
            name,
            target,
            credential,
            headers,
            catalog,
            server_requests,
            timeouts,
            watch,
            ..
        } = wanted;
        let own = &self.settings;
        own.name == *name
            && own.target == *target
            && own.credential == *credential
            && own.headers == *headers
            && own.catalog == *catalog
            && own.server_requests == *server_requests
            && own.timeouts == *timeouts
            && own.watch == *watch
    }

    /// The same server, shown as these settings say.
    pub(super) fn renamed(
        &self,
        wanted: &UpstreamSettings,
        (connector, pin): (&Arc<str>, Pin),
        ground: &Ground,
    ) -> Self {
        let upstream = if pin == self.pin {
            self.served.upstream.clone()
        } else {
            pinned(&self.raw, wanted, (connector, pin), ground)
        };
        let (raw, keeping) = (self.raw.clone(), self.keeping.clone());
        Self { settings: wanted.clone(), served: served(upstream, wanted), raw, pin, keeping }
    }

    /// Whether both are the same running upstream.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.raw, &other.raw)
    }

    /// Whether something of it is held back.
    pub(super) fn holds(&self) -> bool {
        let snapshot = self.served.snapshot();
        snapshot.offering.as_ref().is_some_and(|offering| !offering.held.is_empty())
    }

    /// Waits until the server answered, or failed to, or takes long.
    pub(super) async fn settle(&self, limit: Duration) {
        let mut watch = self.served.upstream.watch();
        let known = watch.wait_for(|now| now.was_tried());
        // Whoever takes longer comes when it comes.
        drop(timeout(limit, known).await);
    }

    /// Ends it once its calls ended, within `grace`.
    pub(super) async fn end(self, grace: Duration) {
        let idle = async {
            while self.served.upstream.numbers().in_flight > 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        if timeout(grace, idle).await.is_err() {
            tracing::warn!(upstream = %self.settings.name, "taken out with calls in flight");
        }
        self.served.upstream.shut_down().await;
    }
}

fn absence(settings: &UpstreamSettings) -> Absence {
    let config::Absence { stale_for, keep } = settings.absence;
    Absence { stale_for, keep }
}

/// A warning for each upstream whose address is written as a number, and is one that plugway never dials.
pub(super) fn never_dialled(settings: &Settings) -> Vec<String> {
    let own = OwnListeners::new();
    let _listed = own.add(settings.listen.address);
    let dialer = Dialer::configured(own, Duration::ZERO);
    let all = settings.connectors.iter().flat_map(|connector| {
        connector.upstreams.iter().map(|upstream| (&connector.name, upstream))
    });
    let refused = all.filter_map(|(connector, upstream)| {
        let Target::Http(address) = &upstream.target else { return None };
        let refusal = dialer.refuses(&address.url)?;
        let name = &upstream.name;
        Some(format!("warning: upstream {connector}/{name} will not be reached: {refusal}"))
    });
    refused.collect()
}

fn translate(
    settings: &UpstreamSettings,
    connector: &Arc<str>,
    own: &OwnListeners,
) -> Result<upstream::Settings, Unusable> {
    let mut limits = limits(settings);
    let (transport, sharing) = match &settings.target {
        Target::Http(address) => {
            let url = address.url.to_string();
            let transport = match address.transport {
                HttpTransport::Streamable => Transport::Http { url },
                HttpTransport::Sse => Transport::Sse { url },
            };
            (transport, Sharing::Session)
        }
        Target::Leased(_) => return Err(Unusable::Url { url: String::new() }),
        Target::Stdio(child) => {
            // A child may have to download itself first: it has longer, unless the operator says how long.
            let initialize = settings.timeouts.initialize;
            if initialize != UpstreamTimeouts::default().initialize {
                limits.start = initialize;
            }
            limits.children = child.max_children;
            limits.child_idle = child.idle_stop;
            let env =
                child.env.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
            let command = Command {
                program: child.command.clone(),
                args: child.args.clone(),
                env: env.collect(),
                directory: Some(child.cwd.clone()),
            };
            let sharing = match child.sharing {
                config::Sharing::Session => Sharing::Session,
                config::Sharing::Connector => Sharing::Connector,
            };
            (Transport::Stdio(command), sharing)
        }
    };
    let (access, headers) = access(settings)?;
    Ok(upstream::Settings {
        name: Arc::clone(&settings.name),
        connector: Arc::clone(connector),
        transport,
        headers,
        origins: artifact_origins(settings),
        access,
        catalog: settings.catalog,
        own: own.clone(),
        sharing,
        asks: settings.server_requests,
        limits,
    })
}

fn limits(settings: &UpstreamSettings) -> Limits {
    let (times, watch) = (settings.timeouts, &settings.watch);
    Limits {
        connect: times.connect,
        open: times.initialize,
        catalogue: times.catalogue,
        call: times.answer,
        check: watch.interval,
        check_timeout: watch.timeout,
        down_after: watch.down_after,
        up_after: watch.up_after,
        refresh: watch.refresh,
        retry: watch.retry_initial,
        retry_max: watch.retry_max,
        attempts: watch.attempts,
        ..Limits::default()
    }
}

fn artifact_origins(settings: &UpstreamSettings) -> Option<Vec<Arc<str>>> {
    match &settings.target {
        Target::Http(address) => address.artifact_origins.clone(),
        Target::Stdio(_) | Target::Leased(_) => None,
    }
}

type Headers = Vec<(HeaderName, HeaderValue)>;

/// Whose credential the upstream gets, and the headers that every request to it carries.
fn access(settings: &UpstreamSettings) -> Result<(Access, Headers), Unusable> {
    let mut headers = Headers::with_capacity(settings.headers.len() + 1);
    for (name, secret) in &settings.headers {
        headers.push((name.clone(), sensitive(name, secret)?));
    }
    let access = match &settings.credential {
        Credential::None => Access::Open,
        Credential::Forward { own } => {
            let own = own.as_ref().map(|own| sensitive(&AUTHORIZATION, own)).transpose()?;
            Access::Callers { own }
        }
        Credential::Header(name, secret) => {
            headers.push((name.clone(), sensitive(name, secret)?));
            Access::Plugways
        }
    };
    Ok((access, headers))
}

fn sensitive(name: &HeaderName, secret: &Secret) -> Result<HeaderValue, Unusable> {
    let mut value = HeaderValue::from_str(secret.reveal())
        .map_err(|_invalid| Unusable::Header { name: name.clone() })?;
    value.set_sensitive(true);
    Ok(value)
}
