//! Plugins out of the settings.

use std::collections::HashMap;
use std::sync::Arc;

use super::error::StartError;
use crate::config::{
    ConnectorSettings, GrantSettings, OnError, PluginPlace, PluginSettings, PluginSource, Settings,
};
use crate::hex::hex;
use crate::outbound::{Fetcher, Origin, OwnListeners};
use crate::pipeline::port::{LocalState, Policy, Router};
use crate::plugin::{
    Grants, Limits, LoadError, OnError as PluginOnError, PluginSpec, Runtime, RuntimeOptions, Slot,
    Source, bundled,
};
use crate::state::{Memory, Quota};

/// Instances that room is kept for, so that plugins can be added while plugway runs.
const ROOM: u32 = 64;

/// Loaded plugins, by the operator's names.
pub(super) struct Plugins {
    pub(super) runtime: Arc<Runtime>,
    pub(super) memory: Arc<Memory>,
    slots: HashMap<Arc<str>, (PluginSettings, Arc<Slot>)>,
    /// Where plugway itself listens, which no plugin fetches from.
    own: OwnListeners,
}

impl Plugins {
    /// Loads every plugin that the settings use.
    pub(super) async fn load(settings: &Settings, own: &OwnListeners) -> Result<Self, StartError> {
        let places = settings.connectors.len().max(1);
        let instances =
            settings.plugins.iter().map(|plugin| spec(plugin, own).instances()).sum::<u32>();
        let places = u32::try_from(places).unwrap_or(u32::MAX);
        let memory = Arc::new(Memory::new(Quota::default()));
        let spaces = memory.clone();
        let options = RuntimeOptions {
            cache_dir: settings.cache_dir.clone(),
            instances: instances.saturating_mul(places).max(ROOM),
            states: Arc::new(move |connector: &str, plugin: &str| -> Arc<dyn LocalState> {
                spaces.namespace(connector, plugin)
            }),
        };
        let engine = |source| StartError::Plugin { name: "engine".into(), source };
        let runtime = Arc::new(Runtime::new(options).map_err(engine)?);
        let nothing = Self { runtime, memory, slots: HashMap::new(), own: own.clone() };
        nothing.changed(settings).await
    }

    /// The plugins of changed settings: those that are as before are the very same, the others are loaded beside them.
    pub(super) async fn changed(&self, settings: &Settings) -> Result<Self, StartError> {
        let (runtime, memory) = (self.runtime.clone(), self.memory.clone());
        let mut next = Self { runtime, memory, slots: HashMap::new(), own: self.own.clone() };
        for wanted in &settings.plugins {
            let name = wanted.name.clone();
            let same = self.slots.get(&name).filter(|(own, _)| own == wanted);
            let slot = match same {
                Some((_, slot)) => slot.clone(),
                None => match self.runtime.load(spec(wanted, &self.own)).await {
                    Ok(slot) => slot,
                    Err(source) => {
                        next.unload_but(self);
                        return Err(broken(&name, source));
                    }
                },
            };
            next.slots.insert(name, (wanted.clone(), slot));
        }
        Ok(next)
    }

    /// Forgets every plugin that `others` do not have; calls that are with them end.
    pub(super) fn unload_but(&self, others: &Self) {
        let kept = |name: &Arc<str>, slot: &Arc<Slot>| {
            others.slots.get(name).is_some_and(|(_, own)| Arc::ptr_eq(own, slot))
        };
        let gone = self.slots.iter().filter(|(name, (_, slot))| !kept(name, slot));
        gone.for_each(|(_, (_, slot))| self.runtime.unload(slot));
    }

    /// A line for each plugin: what was found in its file.
    pub(super) fn found(&self, settings: &Settings) -> Vec<String> {
        let lines = settings.plugins.iter().filter_map(|settings| {
            let (_, slot) = self.slots.get(&settings.name)?;
            let (kind, info, digest) = (slot.kind().as_str(), slot.info(), hex(&slot.digest()));
            let (name, own, version) = (&settings.name, &info.name, &info.version);
            Some(format!("loaded {name}: {kind} {own} {version}, sha256:{digest}"))
        });
        lines.collect()
    }

    /// A plugin as the router of a connector.
    pub(super) async fn router(
        &self,
        connector: &Arc<str>,
        place: &PluginPlace,
    ) -> Result<Arc<dyn Router>, StartError> {
        let slot = self.slot(&place.plugin)?;
        let router = slot.router(connector, Some(place.config.clone())).await;
        router.map_err(|source| broken(&place.plugin, source))
    }

    /// The policies of a connector, in order.
    pub(super) async fn policies(
        &self,
        connector: &ConnectorSettings,
    ) -> Result<Vec<Arc<dyn Policy>>, StartError> {
        let mut policies = Vec::with_capacity(connector.policies.len());
        let mut places: HashMap<&Arc<str>, usize> = HashMap::new();
        for place in &connector.policies {
            let slot = self.slot(&place.plugin)?;
            let before = places.entry(&place.plugin).or_default();
            let config = Some(place.config.clone());
            let policy = slot.policy_again(&connector.name, config, *before).await;
            policies.push(policy.map_err(|source| broken(&place.plugin, source))?);
            *before += 1;
        }
        Ok(policies)
    }

    fn slot(&self, name: &Arc<str>) -> Result<&Arc<Slot>, StartError> {
        self.slots
            .get(name)
            .map(|(_, slot)| slot)
            .ok_or_else(|| StartError::NoPlugin { name: name.clone() })
    }
}

fn broken(name: &Arc<str>, source: LoadError) -> StartError {
    StartError::Plugin { name: name.clone(), source }
}

/// Where a plugin may fetch from; none where nothing is granted.
fn fetcher(grants: &GrantSettings, own: &OwnListeners) -> Option<Arc<Fetcher>> {
    let origins: Vec<Origin> = grants.fetch.iter().filter_map(Origin::of).collect();
    let any = !origins.is_empty();
    any.then(|| Arc::new(Fetcher::new(origins, grants.fetch_private, own.clone())))
}

fn spec(settings: &PluginSettings, own: &OwnListeners) -> PluginSpec {
    let name = settings.name.clone();
    let base = match &settings.source {
        PluginSource::Bundled => bundled::of(&name).unwrap_or_else(|| bundled::router(name)),
        PluginSource::File(path) => PluginSpec::new(name, Source::File(path.clone())),
    };
    let names = |own: Vec<String>, headers: &[http::HeaderName]| -> Vec<String> {
        own.into_iter().chain(headers.iter().map(ToString::to_string)).collect()
    };
    let granted = base.grants;
    let defaults = base.limits;
    let memory = settings.limits.memory.and_then(|bytes| u32::try_from(bytes >> 20).ok());
    PluginSpec {
        digest: settings.digest,
        config: settings.config.clone(),
        limits: Limits {
            time: settings.limits.time.unwrap_or(defaults.time),
            memory_mib: memory.unwrap_or(defaults.memory_mib),
            instances: settings.limits.instances.and_then(|count| u32::try_from(count).ok()),
        },
        grants: Grants {
            headers: names(granted.headers, &settings.grants.headers),
            query: granted.query.into_iter().chain(settings.grants.query.clone()).collect(),
            set_headers: names(Vec::new(), &settings.grants.set_headers),
            upstreams: settings.grants.upstreams || granted.upstreams,
            reveal: settings.grants.reveal || granted.reveal,
            fetch: fetcher(&settings.grants, own),
        },
        on_error: match settings.on_error {
            OnError::Deny => PluginOnError::Deny,
            OnError::Pass => PluginOnError::Allow,
        },
        ..base
    }
}
