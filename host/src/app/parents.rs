//! Connectors that register themselves with another plugway, out of the settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::ground::Ground;
use crate::config::{RegisterSettings, Settings};
use crate::registry::parent::registrar::LEAVE;
use crate::registry::parent::{Client, Registrar};

/// Every connector that registers itself.
#[derive(Debug, Default)]
pub(super) struct Parents(Vec<Registered>);

/// A connector that registers itself.
#[derive(Debug)]
struct Registered {
    connector: Arc<str>,
    settings: RegisterSettings,
    stop: CancellationToken,
    /// Whether its lease is to be ended with it.
    leaves: Arc<AtomicBool>,
    running: JoinHandle<()>,
}

impl Parents {
    /// Registers the connectors of these settings from now on; those that register as before go on.
    pub(super) fn change(&mut self, settings: &Settings, ground: &Ground) {
        let mut old = std::mem::take(&mut self.0);
        for connector in &settings.connectors {
            let Some(wanted) = &connector.register else { continue };
            let known = old.iter().position(|one| one.connector == connector.name);
            let before = known.map(|at| old.swap_remove(at));
            match before {
                Some(same) if same.settings == *wanted => self.0.push(same),
                before => {
                    // The same lease with other words is not ended in between.
                    let before = before.map(|before| {
                        let own = &before.settings;
                        let leaves = own.servers != wanted.servers || own.name != wanted.name;
                        before.end(leaves)
                    });
                    self.0.extend(start(&connector.name, wanted, before, ground));
                }
            }
        }
        for gone in old {
            // Its task is among those that the end waits for.
            drop(gone.end(true));
        }
    }

    /// Leaves everywhere, within a bound.
    pub(super) async fn end(self) {
        let ending = self.0.into_iter().map(|registered| registered.end(true));
        let ending = futures_util::future::join_all(ending.collect::<Vec<_>>());
        if timeout(LEAVE + Duration::from_secs(1), ending).await.is_err() {
            tracing::warn!("stopped before every lease had been ended");
        }
    }
}

impl Registered {
    fn end(self, leaves: bool) -> JoinHandle<()> {
        self.leaves.store(leaves, Ordering::Release);
        self.stop.cancel();
        self.running
    }
}

/// Registers a connector once `before` has ended.
fn start(
    connector: &Arc<str>,
    settings: &RegisterSettings,
    before: Option<JoinHandle<()>>,
    ground: &Ground,
) -> Option<Registered> {
    let parent = match Client::new(settings, ground.own.clone()) {
        Ok(parent) => parent,
        Err(error) => {
            tracing::error!(%connector, %error, "the connector cannot register itself");
            ground.troubles.set(connector, &format!("it cannot be registered: {error}"));
            return None;
        }
    };
    let registrar = Registrar {
        connector: connector.clone(),
        at: settings.servers.to_string(),
        ttl: settings.ttl,
        parent,
        troubles: ground.troubles.clone(),
    };
    let (stop, leaves) = (CancellationToken::new(), Arc::new(AtomicBool::new(true)));
    let (until, leave) = (stop.clone(), leaves.clone());
    let running = ground.tasks.spawn(async move {
        if let Some(before) = before {
            // It ended, whatever became of it.
            let _ended = before.await;
        }
        registrar.run(&until, || leave.load(Ordering::Acquire)).await;
    });
    let (connector, settings) = (connector.clone(), settings.clone());
    Some(Registered { connector, settings, stop, leaves, running })
}
