//! `plugway serve`.

use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::application::{self, Rereading};
use super::arguments::Serve;
use super::exit::{Exit, Failure};
use crate::config::{Environment, Exposure, Flags, Settings};

/// Serves a configuration file until a signal comes.
pub(super) fn run(command: &Serve, environment: &Environment) -> Result<(), Failure> {
    let (source, flags) = (command.source(), Flags::from(&command.listen));
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

/// Serves until SIGINT or SIGTERM, then lets calls in progress end.
pub(super) fn until_signal(
    settings: Settings,
    rereading: Option<Rereading>,
) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let stop = CancellationToken::new();
        let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
        // Without anything to read again SIGHUP ends the process, as it does by default.
        let mut hangup = rereading.as_ref().map(|_| signal(SignalKind::hangup()));
        let mut hangup = hangup.take().transpose().map_err(no_signals)?;
        let bell = rereading.as_ref().map(|rereading| rereading.hangup.clone());
        let mut serving = std::pin::pin!(application::serve(settings, rereading, stop.clone()));
        loop {
            tokio::select! {
                ended = serving.as_mut() => return ended,
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                () = next(&mut hangup) => if let Some(bell) = &bell { bell.notify_one() },
            }
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

/// Waits for a signal, for ever where none is awaited.
async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
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
