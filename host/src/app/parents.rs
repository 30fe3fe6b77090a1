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
        let connectors = settings.connectors.iter();
        let wanted = connectors.filter_map(|one| Some((&one.name, one.register.as_ref()?)));
        for (connector, wanted, before) in succeeded(wanted.collect(), &mut old) {
            match before {
                Some(same) if same.connector == *connector && same.settings == *wanted => {
                    self.0.push(same);
                }
                before => {
                    // The same lease with other words is not ended in between.
                    let before = before.map(|before| {
                        let leaves = !before.holds(wanted);
                        before.end(leaves)
                    });
                    self.0.extend(start(connector, wanted, before, ground));
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

/// A connector, how it is to register, and the one whose place it takes.
type Succeeded<'a> = (&'a Arc<str>, &'a RegisterSettings, Option<Registered>);

/// Finds for each the one before it: who held the same lease, whatever its connector was called then; else who registered the
/// same connector.
fn succeeded<'a>(
    wanted: Vec<(&'a Arc<str>, &'a RegisterSettings)>,
    old: &mut Vec<Registered>,
) -> Vec<Succeeded<'a>> {
    let take = |old: &mut Vec<Registered>, is_it: &dyn Fn(&Registered) -> bool| {
        let at = old.iter().position(is_it)?;
        Some(old.swap_remove(at))
    };
    let holders = wanted
        .into_iter()
        .map(|(connector, wanted)| (connector, wanted, take(old, &|one| one.holds(wanted))));
    let mut all: Vec<Succeeded<'a>> = holders.collect();
    for (connector, _, before) in &mut all {
        if before.is_none() {
            *before = take(old, &|one| one.connector == **connector);
        }
    }
    all
}

impl Registered {
    /// Whether it holds the lease that these settings lead to.
    fn holds(&self, wanted: &RegisterSettings) -> bool {
        self.settings.servers == wanted.servers && self.settings.name == wanted.name
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    fn settings(name: &str) -> RegisterSettings {
        RegisterSettings {
            servers: "https://hub/registry/v1/servers".parse().unwrap(),
            name: name.into(),
            public_url: "https://lab/mcp".into(),
            ttl: Duration::from_mins(5),
            token: Secret::new("token"),
            labels: std::collections::BTreeMap::new(),
        }
    }

    #[tokio::test]
    async fn who_holds_a_lease_is_followed_by_who_wants_it_whatever_it_is_called() {
        let tasks = tokio_util::task::TaskTracker::new();
        let registered = |connector: &str, name: &str| Registered {
            connector: connector.into(),
            settings: settings(name),
            stop: CancellationToken::new(),
            leaves: Arc::default(),
            running: tasks.spawn(async {}),
        };
        let names: [Arc<str>; 3] = ["new".into(), "b".into(), "c".into()];
        let wanted = [settings("lab"), settings("other"), settings("third")];
        let mut old = vec![registered("b", "lab"), registered("c", "second"), registered("d", "x")];
        let all = succeeded(names.iter().zip(&wanted).collect(), &mut old);
        let shown = all.iter().map(|(connector, wanted, before)| {
            let before = before.as_ref().map(|before| (&*before.connector, before.holds(wanted)));
            (&***connector, before)
        });
        let expected = [("new", Some(("b", true))), ("b", None), ("c", Some(("c", false)))];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(old.len(), 1, "nobody follows it: its lease is ended");
    }
}
