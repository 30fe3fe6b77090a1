//! Looks after plugin files: a changed one is swapped in, a broken or missing one is reported while the old one serves.
//!
//! Polling, not notification: it is the same everywhere, network file systems and mounted volumes included, and a look at
//! a few files each second costs nothing.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::artifact::{Artifact, Stamp};
use super::runtime::{Runtime, beside};
use super::slot::Slot;
use super::spec::Source;
use crate::hex::hex;
use crate::telemetry::audit::{self, Said};

const EVERY: Duration = Duration::from_secs(1);
/// Who writes a file is taken to be done when it did not change for so long.
const SETTLED: Duration = Duration::from_millis(250);

/// Polls until it is told to stop.
pub(super) async fn run(runtime: &Runtime, stop: CancellationToken) {
    // a file is read when two looks in a row saw the same change: who writes it may not be done at the first
    let mut changing: Vec<(Arc<Slot>, Option<Stamp>)> = Vec::new();
    loop {
        let pause = if changing.is_empty() { EVERY } else { SETTLED };
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(pause) => {}
        }
        let before = std::mem::take(&mut changing);
        for slot in runtime.slots() {
            let Source::File(path) = &slot.spec.source else { continue };
            let path = path.clone();
            let now = beside(async move { Stamp::read(&path) }).await;
            let known = *slot.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if now == known {
                continue;
            }
            let settled =
                before.iter().any(|(own, stamp)| Arc::ptr_eq(own, &slot) && *stamp == now);
            if settled {
                look(&slot, now).await;
            } else {
                changing.push((slot, now));
            }
        }
    }
}

/// The file changed: take it, or say why not.
async fn look(slot: &Slot, now: Option<Stamp>) {
    let result = match now {
        None => Err("the file was removed".to_owned()),
        Some(_) => take(slot).await,
    };
    let (outcome, reason) = match &result {
        Ok(()) => ("applied", ""),
        Err(why) => ("refused", why.as_str()),
    };
    audit::event(
        "plugin",
        &[
            ("plugin", Said::Text(&slot.spec.key)),
            ("digest", Said::Text(&hex(&slot.digest()))),
            ("result", Said::Text(outcome)),
            ("reason", Said::Text(reason)),
        ],
    );
    *slot.seen.lock().unwrap_or_else(PoisonError::into_inner) = now;
    slot.set_degraded(result.err());
}

async fn take(slot: &Slot) -> Result<(), String> {
    let spec = slot.spec.clone();
    let artifact =
        beside(async move { Artifact::read(&spec) }).await.map_err(|error| error.to_string())?;
    slot.replace(artifact).await.map_err(|error| error.to_string())
}
