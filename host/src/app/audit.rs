//! The audit of the process, out of the settings.

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::time::{sleep, timeout};

use super::error::StartError;
use super::reload::Cause;
use crate::audit::Ledger;
use crate::config::Settings;
use crate::hex::hex;
use crate::telemetry::audit::{self, Said};

/// How long plugway waits at its end until the lines that wait are on the disk.
const END: Duration = Duration::from_secs(10);
/// How often is looked whether refused credentials that were only counted are to be told.
const SETTLE: Duration = Duration::from_secs(1);

/// Opens the audit, and sends there what the process has to tell.
pub(super) fn open(settings: &Settings) -> Result<Option<Arc<Ledger>>, StartError> {
    let Some(wanted) = &settings.audit else { return Ok(None) };
    // Secrets show nothing of themselves.
    let digest = Sha256::digest(format!("{settings:?}").as_bytes());
    let config = hex(digest.get(..8).unwrap_or_default());
    let ledger = Ledger::open(wanted, &config)?;
    if !audit::to(ledger.clone()) {
        tracing::debug!("this process has an audit already, which takes what is no call");
    }
    Ok(Some(ledger))
}

/// Tells in time what was only counted.
pub(super) async fn settle(ledger: Arc<Ledger>) {
    loop {
        sleep(SETTLE).await;
        ledger.settle();
    }
}

/// Writes what waits, and that nothing follows.
pub(super) async fn close(ledger: Option<Arc<Ledger>>) {
    let Some(ledger) = ledger else { return };
    let closing = tokio::task::spawn_blocking(move || ledger.close());
    if timeout(END, closing).await.is_err() {
        tracing::error!("stopped before the audit was written to its end");
    }
}

/// A configuration was read again, or leases changed it.
pub(super) fn reloaded(outcome: &Result<Vec<String>, String>, cause: Cause) {
    let looked_for_nothing = matches!(cause, Cause::File | Cause::Leases);
    let (result, reason, changes) = match outcome {
        Ok(changes) if changes.is_empty() && looked_for_nothing => return,
        Ok(changes) if changes.is_empty() => ("unchanged", "", &[][..]),
        Ok(changes) => ("applied", "", changes.as_slice()),
        Err(why) => ("refused", why.as_str(), &[][..]),
    };
    audit::event(
        "reload",
        &[
            ("cause", Said::Text(cause.as_str())),
            ("result", Said::Text(result)),
            ("reason", Said::Text(reason)),
            ("changes", Said::List(changes)),
        ],
    );
}
