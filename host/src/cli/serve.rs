//! `plugway serve`.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::application;
use super::arguments::Serve;
use super::exit::{Exit, Failure};
use crate::config::{self, Environment, Exposure, Settings};

/// Serves a configuration file until a signal comes.
pub(super) fn run(command: &Serve, environment: &Environment) -> Result<(), Failure> {
    let settings = config::load(&command.file, &(&command.listen).into(), environment)?;
    announce(&settings);
    until_signal(&settings)
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

/// Serves until SIGINT or SIGTERM, then lets calls in progress end.
pub(super) fn until_signal(settings: &Settings) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let stop = CancellationToken::new();
        let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
        let mut serving = std::pin::pin!(application::serve(settings, stop.clone()));
        tokio::select! {
            ended = serving.as_mut() => return ended,
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop.cancel();
        // Who signals twice does not want to wait.
        tokio::select! {
            ended = serving => ended,
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    })
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

#[expect(clippy::needless_pass_by_value, reason = "the form that `map_err` wants")]
fn no_signals(error: std::io::Error) -> Failure {
    Failure::new(
        Exit::Internal,
        format!("signals cannot be received: {error}"),
        "look at the limits of open files (`ulimit -n`)",
    )
}
