//! Upstreams out of the settings.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::error::StartError;
use crate::config::{self, Target, UpstreamSettings, UpstreamTimeouts};
use crate::pipeline::Served;
use crate::upstream::{self, Command, Limits, Sharing, Transport};

/// Starts an upstream; returns before it answers.
pub(super) fn start(
    settings: &UpstreamSettings,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) -> Result<Served, StartError> {
    let wanted = translate(settings);
    let upstream = upstream::start(&wanted, stop, tasks)
        .map_err(|source| StartError::Upstream { name: settings.name.clone(), source })?;
    Ok(Served { upstream, settings: settings.naming.to_json().into() })
}

fn translate(settings: &UpstreamSettings) -> upstream::Settings {
    let times = settings.timeouts;
    let mut limits = Limits {
        connect: times.connect,
        open: times.initialize,
        catalogue: times.catalogue,
        call: times.answer,
        ..Limits::default()
    };
    let (transport, sharing) = match &settings.target {
        Target::Http(uri) => (Transport::Http { url: uri.to_string() }, Sharing::Session),
        Target::Stdio(child) => {
            // A child may have to download itself first: it has longer, unless the operator says how long.
            if times.initialize != UpstreamTimeouts::default().initialize {
                limits.start = times.initialize;
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
    upstream::Settings { name: Arc::clone(&settings.name), transport, sharing, limits }
}
