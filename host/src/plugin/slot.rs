//! A loaded plugin entry, and how its component is replaced while it serves.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::{ArcSwap, ArcSwapOption};

use super::artifact::{Artifact, Stamp};
use super::compiled::{Compiled, Info};
use super::error::LoadError;
use super::generation::{Generation, Plan};
use super::inspect::Kind;
use super::place::Place;
use super::policy::PolicySeat;
use super::router::RouterSeat;
use super::runtime::{Core, beside};
use super::seat::Seat;
use super::spec::PluginSpec;
use super::stats::PluginStats;
use crate::pipeline::port::{Policy, Router};

/// A plugin entry whose component is loaded. Each connector that uses it takes a seat: its own configuration, instances,
/// state, breaker and numbers.
#[derive(Debug)]
pub struct Slot {
    pub(super) core: Arc<Core>,
    pub(super) spec: PluginSpec,
    current: ArcSwap<Compiled>,
    seats: Mutex<Vec<Weak<Seat>>>,
    /// One swap at a time.
    swap: tokio::sync::Mutex<u64>,
    degraded: ArcSwapOption<Arc<str>>,
    disabled: Arc<AtomicBool>,
    pub(super) seen: Mutex<Option<Stamp>>,
}

impl Slot {
    pub(super) fn new(
        core: Arc<Core>,
        spec: PluginSpec,
        compiled: Compiled,
        stamp: Option<Stamp>,
    ) -> Self {
        Self {
            core,
            spec,
            current: ArcSwap::from_pointee(compiled),
            seats: Mutex::default(),
            swap: tokio::sync::Mutex::new(0),
            degraded: ArcSwapOption::const_empty(),
            disabled: Arc::default(),
            seen: Mutex::new(stamp),
        }
    }

    /// The operator's name for the entry.
    pub fn key(&self) -> &Arc<str> {
        &self.spec.key
    }

    /// What the plugin is for.
    pub fn kind(&self) -> Kind {
        self.current.load().kind
    }

    /// What it says about itself.
    pub fn info(&self) -> Arc<Info> {
        self.current.load().info.clone()
    }

    /// SHA-256 of the component that serves.
    pub fn digest(&self) -> [u8; 32] {
        self.current.load().digest
    }

    /// Why the file on disk is not what serves, if it is not.
    pub fn degraded(&self) -> Option<Arc<str>> {
        self.degraded.load().as_deref().cloned()
    }

    /// The entry as a policy of a connector, with the connector's configuration for it, or the entry's own.
    pub async fn policy(
        &self,
        connector: &Arc<str>,
        config: Option<Arc<str>>,
    ) -> Result<Arc<dyn Policy>, LoadError> {
        self.policy_again(connector, config, 0).await
    }

    /// The same, where so many places of the connector's policies before it have this entry: each has its own state.
    pub async fn policy_again(
        &self,
        connector: &Arc<str>,
        config: Option<Arc<str>>,
        before: usize,
    ) -> Result<Arc<dyn Policy>, LoadError> {
        let seat = self.seat(Kind::Policy, (connector, before), config).await?;
        Ok(Arc::new(PolicySeat { seat, on_error: self.spec.on_error }))
    }

    /// The entry as the router of a connector, with the connector's configuration for it, or the entry's own.
    pub async fn router(
        &self,
        connector: &Arc<str>,
        config: Option<Arc<str>>,
    ) -> Result<Arc<dyn Router>, LoadError> {
        let seat = self.seat(Kind::Router, (connector, 0), config).await?;
        Ok(Arc::new(RouterSeat(seat)))
    }

    async fn seat(
        &self,
        wanted: Kind,
        (connector, before): (&Arc<str>, usize),
        config: Option<Arc<str>>,
    ) -> Result<Arc<Seat>, LoadError> {
        let id = self.swap.lock().await;
        let compiled = self.current.load_full();
        let found = compiled.kind;
        if found != wanted {
            return Err(LoadError::WrongKind { found: found.as_str(), wanted: wanted.as_str() });
        }
        let config = config.unwrap_or_else(|| self.spec.config.clone());
        let key = &self.spec.key;
        // No name of an entry has such a letter in it.
        let state = match before {
            0 => (self.core.states)(connector, key),
            _ => (self.core.states)(connector, &format!("{key}#{}", before + 1)),
        };
        let place = Place::new(&self.spec, found, connector.clone(), state);
        let place = Arc::new(place.switched_by(&self.disabled));
        let generation = beside(Generation::prepare(Plan {
            id: *id + 1,
            compiled,
            place: place.clone(),
            config: config.clone(),
            instances: self.spec.instances(),
            strict: false,
        }))
        .await?;
        let threads = self.core.threads.clone();
        let seat =
            Arc::new(Seat { place, current: ArcSwap::from_pointee(generation), config, threads });
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|seat| seat.strong_count() > 0);
        seats.push(Arc::downgrade(&seat));
        Ok(seat)
    }

    /// Replaces the component while it serves: compiled, configured for every seat and tried first. Calls in flight end on
    /// the old one. On an error everything stays as it was.
    pub async fn replace(&self, artifact: Artifact) -> Result<(), LoadError> {
        let mut id = self.swap.lock().await;
        if artifact.digest == self.digest() {
            return Ok(());
        }
        let compiled = Arc::new(self.core.compile(artifact, &self.spec, true).await?);
        let was = self.kind();
        if compiled.kind != was {
            return Err(LoadError::WrongKind {
                found: compiled.kind.as_str(),
                wanted: was.as_str(),
            });
        }
        let seats = self.living();
        let mut ready = Vec::with_capacity(seats.len());
        for seat in seats {
            let plan = Plan {
                id: *id + 2,
                compiled: compiled.clone(),
                place: seat.place.clone(),
                config: seat.config.clone(),
                instances: self.spec.instances(),
                strict: true,
            };
            let generation = beside(Generation::prepare(plan)).await?;
            ready.push((seat, generation));
        }
        *id += 1;
        self.current.store(compiled);
        for (seat, generation) in ready {
            seat.current.store(Arc::new(generation));
            seat.place.renewed();
        }
        Ok(())
    }

    /// Notes why the file on disk does not serve; none when it does again.
    pub(super) fn set_degraded(&self, why: Option<String>) {
        if let Some(why) = &why {
            tracing::error!(
                plugin = &*self.spec.key,
                "the plugin's file cannot be used, the version before it goes on serving: {why}"
            );
        } else {
            tracing::info!(plugin = &*self.spec.key, "the plugin's file serves");
        }
        self.degraded.store(why.map(|why| Arc::new(why.into())));
    }

    /// Puts the entry out of use in every connector, or back: it is not asked, and its calls are denied. What it decided
    /// before does not count meanwhile.
    pub fn disable(&self, out: bool) {
        self.disabled.store(out, Relaxed);
    }

    /// Whether it is out of use.
    pub fn disabled(&self) -> bool {
        self.disabled.load(Relaxed)
    }

    /// The numbers of every seat.
    pub fn stats(&self) -> Vec<PluginStats> {
        let degraded = self.degraded();
        self.living().iter().map(|seat| seat.stats(degraded.clone())).collect()
    }

    fn living(&self) -> Vec<Arc<Seat>> {
        let seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.iter().filter_map(Weak::upgrade).collect()
    }
}
