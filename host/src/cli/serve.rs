//! `plugway serve`.

use std::sync::Arc;

use super::application::Rereading;
use super::arguments::Serve;
use super::exit::{Exit, Failure};
use super::signals::{self, Way};
use crate::config::{Environment, Exposure, Flags, Settings};

/// Serves a configuration file until a signal comes.
pub(super) fn run(command: &Serve, environment: &Environment) -> Result<(), Failure> {
    let (source, flags) = (command.source(environment), Flags::from(&command.listen));
    let settings = source.load(&flags, environment)?;
    announce(&settings);
    let environment = environment.clone();
    let load = move || source.load(&flags, &environment);
    let rereading = Rereading { load: Arc::new(load), hangup: Arc::default() };
    until_signal(settings, Some(rereading))
}

/// Logs what an operator has to know before anything is served.
pub(super) fn announce(settings: &Settings) {
    for warning in &settings.warnings.list {
        tracing::warn!(key = %warning.key, "{}", warning.sentence);
    }
    if let Exposure::Accepted(accepted) = &settings.listen.exposure {
        tracing::warn!(
            address = %settings.listen.address,
            accepted = accepted.parts.join(","),
            reason = %accepted.reason,
            by = if accepted.by_flag { "flag" } else { "file" },
            "other machines can reach this listener, and the operator accepted what is missing"
        );
    }
}

/// Serves at a listener until SIGINT or SIGTERM, then lets calls in progress end.
pub(super) fn until_signal(
    settings: Settings,
    rereading: Option<Rereading>,
) -> Result<(), Failure> {
    let runtime = runtime()?;
    let ended = runtime.block_on(signals::until_signal(settings, rereading, Way::Listener));
    // Everything that has to end has ended; nobody waits for a file that does not answer.
    runtime.shutdown_background();
    ended
}

/// The threads of plugway: one for each core.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Failure::new(
            Exit::Internal,
            format!("the threads of plugway cannot be started: {error}"),
            "look at the limits of processes and open files (`ulimit -a`)",
        )
    })
}
