//! Reads the configuration again: when its file changes, on SIGHUP, or when administration asks.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::audit;
use super::connectors::Misfits;
use super::ground::Ground;
use super::world::World;
use crate::config::{Problems, Settings, Watched, diff, irregular};
use crate::telemetry::{Metrics, Reload};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// A file that is being written is read once it has been the same for so long.
const SETTLE: Duration = Duration::from_millis(100);
/// Requests for a reload that may wait.
const WAITING: usize = 16;

/// How a configuration is read again.
#[derive(Clone)]
pub struct Rereading {
    /// Reads and checks it; blocks.
    pub load: Arc<dyn Fn() -> Result<Settings, Problems> + Send + Sync>,
    /// Rung on SIGHUP.
    pub hangup: Arc<Notify>,
}

/// Who wants the configuration to be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    File,
    Signal,
    Admin,
    /// Servers registered themselves, or their leases ended: nothing is read.
    Leases,
}

impl Cause {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Signal => "signal",
            Self::Admin => "admin",
            Self::Leases => "leases",
        }
    }
}

/// What a reload led to: a line for each change, or one sentence why nothing changed.
pub(super) type Outcome = Result<Vec<String>, String>;

/// Asks for a reload.
#[derive(Clone, Debug)]
pub(super) struct Reloader(mpsc::Sender<Request>);

/// Somebody asks for a reload and waits for its outcome.
#[derive(Debug)]
pub(super) struct Request {
    cause: Cause,
    reply: oneshot::Sender<Outcome>,
}

#[cfg(test)]
impl Request {
    /// It was done, and led to nothing.
    pub(super) fn done(self) -> Cause {
        drop(self.reply.send(Ok(Vec::new())));
        self.cause
    }
}

/// What others may know about the configuration that is served.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Why the files are not what is served, if they are not.
    pub(super) refused: Arc<ArcSwapOption<String>>,
    /// The files that it was read from.
    sources: Arc<ArcSwap<Vec<PathBuf>>>,
}

impl Reloader {
    pub(super) fn new() -> (Self, mpsc::Receiver<Request>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self(sender), receiver)
    }

    /// Reads the configuration again and puts it in place.
    pub(super) async fn reload(&self, cause: Cause) -> Outcome {
        let (reply, outcome) = oneshot::channel();
        let stopping = || "plugway is stopping".to_owned();
        self.0.send(Request { cause, reply }).await.map_err(|_gone| stopping())?;
        outcome.await.unwrap_or_else(|_gone| Err(stopping()))
    }

    /// Puts in place what the leases changed.
    pub(super) async fn leases(&self) -> Outcome {
        self.reload(Cause::Leases).await
    }
}

/// Keeps the world as its configuration says, until `stop`; then gives it back.
pub(super) async fn keep(
    mut world: World,
    (rereading, state): (Option<Rereading>, State),
    mut requests: mpsc::Receiver<Request>,
    stop: &CancellationToken,
) -> World {
    loop {
        state.sources.store(Arc::new(world.file.sources.clone()));
        let Some(Some(request)) = stop.run_until_cancelled(requests.recv()).await else {
            return world;
        };
        if request.cause == Cause::Leases {
            let changes = world.apply_leases().await.map_err(|error| error.to_string());
            let outcome = changes.map(|all| all.iter().map(ToString::to_string).collect());
            report(&outcome, request.cause);
            audit::reloaded(&outcome, request.cause);
            // Whoever asked may be gone.
            let _nobody_waits = request.reply.send(outcome);
            continue;
        }
        let outcome = match &rereading {
            Some(rereading) => reload(&mut world, rereading).await,
            None => Err("there is no configuration file to read again".to_owned()),
        };
        report(&outcome, request.cause);
        audit::reloaded(&outcome, request.cause);
        if let Some(ledger) = world.ground.audit.as_ref().filter(|_| request.cause != Cause::File) {
            // Who put the file aside says so in this way.
            ledger.reopen();
        }
        count(&outcome, request.cause, &world.ground.counts);
        if rereading.is_some() {
            state.refused.store(outcome.as_ref().err().cloned().map(Arc::new));
        }
        // Whoever asked may be gone.
        let _nobody_waits = request.reply.send(outcome);
    }
}

async fn reload(world: &mut World, rereading: &Rereading) -> Outcome {
    let (load, sources) = (rereading.load.clone(), world.file.sources.clone());
    let loaded = tokio::task::spawn_blocking(move || match irregular(&sources) {
        Some(file) => Err(format!("error: {} is no regular file", file.display())),
        None => load().map_err(|problems| problems.to_string()),
    });
    let broken = |error| format!("reading the configuration broke off: {error}");
    let settings = loaded.await.map_err(broken)??;
    for warning in &settings.warnings.list {
        tracing::warn!(key = %warning.key, "{}", warning.sentence);
    }
    let changes = diff(&world.file, &settings);
    if !changes.is_empty() {
        world.apply(settings, Misfits::Refused).await.map_err(|error| error.to_string())?;
    }
    Ok(changes.iter().map(ToString::to_string).collect())
}

fn count(outcome: &Outcome, asked: Cause, counts: &Metrics) {
    match outcome {
        Ok(changes) if !changes.is_empty() => counts.reload(Reload::Applied),
        // Files are looked at often for nothing.
        Ok(_) if asked == Cause::File => {}
        Ok(_) => counts.reload(Reload::Unchanged),
        Err(_) => counts.reload(Reload::Refused),
    }
}

fn report(outcome: &Outcome, asked: Cause) {
    let cause = asked.as_str();
    match outcome {
        // A file may be written anew with the same content; and it is looked at once after the start.
        Ok(changes) if changes.is_empty() && matches!(asked, Cause::File | Cause::Leases) => {
            tracing::debug!(cause, "configuration read again: nothing changed");
        }
        Ok(changes) if changes.is_empty() => {
            tracing::info!(cause, "configuration read again: nothing changed");
        }
        Ok(changes) => {
            for change in changes {
                tracing::info!(cause, change, "configuration change");
            }
            tracing::info!(cause, changes = changes.len(), "configuration applied");
        }
        Err(why) => {
            tracing::error!(cause, "the configuration was not applied, nothing changed: {why}");
        }
    }
}

/// Asks for a reload at each SIGHUP, and whenever a file changed.
pub(super) fn watch(
    ground: &Ground,
    rereading: Option<&Rereading>,
    (reloader, state): (Reloader, &State),
) {
    if let Some(rereading) = rereading {
        ground.beside(on_hangup(reloader.clone(), rereading.hangup.clone()));
        ground.beside(on_change(reloader, state.clone()));
    }
}

/// Asks for a reload at each SIGHUP.
async fn on_hangup(reloader: Reloader, hangup: Arc<Notify>) {
    loop {
        hangup.notified().await;
        // What became of it stands in the log.
        let _outcome = reloader.reload(Cause::Signal).await;
    }
}

/// Asks for a reload whenever a file of the configuration is another than before, and has been the same for a moment.
async fn on_change(reloader: Reloader, state: State) {
    let mut watched = Watched::default();
    // What was written between the start and this look is read once more.
    let mut moved = look(&mut watched, &state).await;
    loop {
        tokio::time::sleep(if moved { SETTLE } else { LOOK }).await;
        let now = look(&mut watched, &state).await;
        if moved && !now {
            // What is written from here on is another change: it is seen at the next look.
            let _outcome = reloader.reload(Cause::File).await;
        }
        moved = now;
    }
}

/// Whether the files have other content than at the last look.
async fn look(watched: &mut Watched, state: &State) -> bool {
    let (files, mut own) = (state.sources.load_full(), watched.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let changed = own.changed(&files);
        (own, changed)
    });
    let Ok((own, changed)) = looked.await else { return false };
    *watched = own;
    changed
}

impl fmt::Debug for Rereading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rereading").finish_non_exhaustive()
    }
}
