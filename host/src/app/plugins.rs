//! Plugins out of the settings.

use std::collections::HashMap;
use std::sync::Arc;

use super::error::StartError;
use crate::config::{OnError, PluginPlace, PluginSettings, PluginSource, Settings};
use crate::pipeline::port::{LocalState, Policy, Router};
use crate::plugin::artifact::hex;
use crate::plugin::{
    Grants, Limits, LoadError, OnError as PluginOnError, PluginSpec, Runtime, RuntimeOptions, Slot,
    Source, bundled,
};
use crate::state::{Memory, Quota};

/// Loaded plugins, by the operator's names.
pub(super) struct Plugins {
    pub(super) runtime: Arc<Runtime>,
    pub(super) memory: Arc<Memory>,
    slots: HashMap<Arc<str>, Arc<Slot>>,
}

impl Plugins {
    /// Loads every plugin that the settings use.
    pub(super) async fn load(settings: &Settings) -> Result<Self, StartError> {
        let specs: Vec<PluginSpec> = settings.plugins.iter().map(spec).collect();
        let places = settings.connectors.len().max(1);
        let instances: u32 = specs.iter().map(PluginSpec::instances).sum();
        let places = u32::try_from(places).unwrap_or(u32::MAX);
        let memory = Arc::new(Memory::new(Quota::default()));
        let spaces = memory.clone();
        let options = RuntimeOptions {
            cache_dir: settings.cache_dir.clone(),
            instances: instances.saturating_mul(places),
            states: Arc::new(move |connector: &str, plugin: &str| -> Arc<dyn LocalState> {
                spaces.namespace(connector, plugin)
            }),
        };
        let engine = |source| StartError::Plugin { name: "engine".into(), source };
        let runtime = Arc::new(Runtime::new(options).map_err(engine)?);
        let mut slots = HashMap::new();
        for spec in specs {
            let name = spec.key.clone();
            let slot = runtime.load(spec).await.map_err(|source| broken(&name, source))?;
            slots.insert(name, slot);
        }
        Ok(Self { runtime, memory, slots })
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

    /// A plugin as a policy of a connector.
    pub(super) async fn policy(
        &self,
        connector: &Arc<str>,
        place: &PluginPlace,
    ) -> Result<Arc<dyn Policy>, StartError> {
        let slot = self.slot(&place.plugin)?;
        let policy = slot.policy(connector, Some(place.config.clone())).await;
        policy.map_err(|source| broken(&place.plugin, source))
    }

    fn slot(&self, name: &Arc<str>) -> Result<&Arc<Slot>, StartError> {
        self.slots.get(name).ok_or_else(|| StartError::NoPlugin { name: name.clone() })
    }
}

/// Loads what the settings name, as serving would, and says what it found: a line for each plugin.
pub async fn check(settings: &Settings) -> Result<Vec<String>, StartError> {
    let plugins = Plugins::load(settings).await?;
    for connector in &settings.connectors {
        plugins.router(&connector.name, &connector.router).await?;
        for place in &connector.policies {
            plugins.policy(&connector.name, place).await?;
        }
    }
    let lines = settings.plugins.iter().filter_map(|settings| {
        let slot = plugins.slots.get(&settings.name)?;
        let info = slot.info();
        Some(format!(
            "{}: {} {} {}, sha256:{}",
            settings.name,
            slot.kind().as_str(),
            info.name,
            info.version,
            hex(&slot.digest()),
        ))
    });
    Ok(lines.collect())
}

fn broken(name: &Arc<str>, source: LoadError) -> StartError {
    StartError::Plugin { name: name.clone(), source }
}

fn spec(settings: &PluginSettings) -> PluginSpec {
    let source = match &settings.source {
        PluginSource::Bundled => Source::Bundled(bundled::ROUTER),
        PluginSource::File(path) => Source::File(path.clone()),
    };
    let names = |headers: &[http::HeaderName]| headers.iter().map(ToString::to_string).collect();
    let defaults = Limits::default();
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
            headers: names(&settings.grants.headers),
            set_headers: names(&settings.grants.set_headers),
            upstreams: settings.grants.upstreams,
        },
        on_error: match settings.on_error {
            OnError::Deny => PluginOnError::Deny,
            OnError::Pass => PluginOnError::Allow,
        },
        ..PluginSpec::new(settings.name.clone(), source)
    }
}
