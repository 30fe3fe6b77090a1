//! Loads plugins: the one thing that `app` makes of this room.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use plugway_bindings::Found;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use super::artifact::Artifact;
use super::ask::{Ask as _, Describe};
use super::cache::Cache;
use super::compiled::{Compiled, Info};
use super::ctx::Ctx;
use super::error::{LoadError, sentence};
use super::inspect::{self, Kind};
use super::place::Place;
use super::seat::Threads;
use super::slot::Slot;
use super::spec::PluginSpec;
use super::stats::PluginStats;
use super::task::Task;
use super::warm::{Unmade, Warm};
use super::{engine, imports, watch};
use crate::pipeline::port::LocalState;

/// Gives the state of (connector, plugin entry).
pub type States = Arc<dyn Fn(&str, &str) -> Arc<dyn LocalState> + Send + Sync>;

/// What the runtime needs from outside.
#[derive(Clone)]
pub struct RuntimeOptions {
    /// Where compiled code is kept between runs; none = nowhere.
    pub cache_dir: Option<PathBuf>,
    /// Sum of the instances of all seats; a few more are no harm, many more are allocated one by one.
    pub instances: u32,
    /// Where state is kept.
    pub states: States,
}

/// The plugin runtime: one for each process.
#[derive(Debug)]
pub struct Runtime {
    core: Arc<Core>,
    slots: Mutex<Vec<Arc<Slot>>>,
}

/// What all slots share.
pub(super) struct Core {
    engine: Engine,
    linker: OnceLock<Linker<Ctx>>,
    waiting_linker: OnceLock<Linker<Ctx>>,
    cache: Option<Cache>,
    /// One compilation at a time.
    compiler: Semaphore,
    pub(super) states: States,
    pub(super) threads: Arc<Threads>,
}

impl Runtime {
    /// Starts the engine. Without a usable cache directory it warns and runs without.
    pub fn new(options: RuntimeOptions) -> Result<Self, LoadError> {
        let engine = engine::build(options.instances)
            .map_err(|error| LoadError::Engine { reason: sentence(&error) })?;
        let cache = options.cache_dir.and_then(|folder| match Cache::open(&folder, &engine) {
            Ok(cache) => Some(cache),
            Err(error) => {
                tracing::warn!(%error, folder = %folder.display(), "compiled plugin code is not kept between runs");
                None
            }
        });
        let core = Core {
            engine,
            linker: OnceLock::new(),
            waiting_linker: OnceLock::new(),
            cache,
            compiler: Semaphore::new(1),
            states: options.states,
            threads: Arc::new(Threads::new()),
        };
        Ok(Self { core: Arc::new(core), slots: Mutex::default() })
    }

    /// Loads an entry: read, hashed, compiled from memory or cache, checked, and asked to describe itself.
    pub async fn load(&self, spec: PluginSpec) -> Result<Arc<Slot>, LoadError> {
        let (artifact, spec) = beside(async move { (Artifact::read(&spec), spec) }).await;
        let artifact = artifact?;
        let stamp = artifact.stamp;
        let compiled = self.core.compile(artifact, &spec, false).await?;
        let slot = Arc::new(Slot::new(self.core.clone(), spec, compiled, stamp));
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).push(slot.clone());
        Ok(slot)
    }

    /// Forgets an entry: it is watched and counted no more; seats that are held serve on.
    pub fn unload(&self, slot: &Arc<Slot>) {
        self.slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|own| !Arc::ptr_eq(own, slot));
    }

    /// The numbers of every plugin in every connector.
    pub fn stats(&self) -> Vec<PluginStats> {
        self.slots().iter().flat_map(|slot| slot.stats()).collect()
    }

    /// Puts a plugin out of use in every connector, or back; says whether there is one of that name.
    pub fn disable(&self, plugin: &str, out: bool) -> bool {
        let slots = self.slots();
        let named: Vec<_> = slots.iter().filter(|slot| **slot.key() == *plugin).collect();
        for slot in &named {
            slot.disable(out);
        }
        !named.is_empty()
    }

    /// What each loaded plugin is, and why its file on disk is not what serves, if it is not.
    pub fn loaded(&self) -> Vec<Arc<Slot>> {
        self.slots()
    }

    /// What of the plugins is not as configuration and files say: (plugin, why).
    pub fn degraded(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let slots = self.slots();
        let out = |slot: &Slot| slot.disabled().then(|| "the operator put it out of use".into());
        let why = slots.iter().filter_map(|slot| {
            let why = out(slot).or_else(|| slot.degraded())?;
            Some((slot.key().clone(), why))
        });
        why.collect()
    }

    /// Looks after the plugin files every second, and swaps what changed, until it is told to stop.
    pub async fn watch(&self, stop: CancellationToken) {
        watch::run(self, stop).await;
    }

    pub(super) fn slots(&self) -> Vec<Arc<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Core {
    /// Makes code of a component, checks what it is, and tries one instance.
    pub(super) async fn compile(
        self: &Arc<Self>,
        artifact: Artifact,
        spec: &PluginSpec,
        gently: bool,
    ) -> Result<Compiled, LoadError> {
        let Ok(_turn) = self.compiler.acquire().await else {
            return Err(LoadError::Engine { reason: "the compiler is gone".into() });
        };
        let core = self.clone();
        let spec = spec.clone();
        let (send, receive) = oneshot::channel();
        let runtime = tokio::runtime::Handle::current();
        // a thread of its own: lowering the priority cannot be taken back
        std::thread::Builder::new()
            .name("plugway-compile".into())
            .spawn(move || {
                if gently {
                    yield_to_calls();
                }
                let made = runtime.block_on(core.make(&artifact, &spec));
                if send.send(made).is_err() {
                    tracing::debug!("nobody waits for the compiled plugin any more");
                }
            })
            .map_err(|error| LoadError::Engine { reason: error.to_string() })?;
        receive
            .await
            .unwrap_or_else(|_| Err(LoadError::Engine { reason: "the compiler broke off".into() }))
    }

    async fn make(&self, artifact: &Artifact, spec: &PluginSpec) -> Result<Compiled, LoadError> {
        let component = self.component(artifact)?;
        let kind = inspect::check(&self.engine, &component, &spec.grants)?;
        let waits = spec.waits();
        let reads_requests = inspect::reads_requests(&self.engine, &component);
        let mismatch = |error| LoadError::Mismatch { reason: sentence(&error) };
        let pre = self.linker(waits)?.instantiate_pre(&component).map_err(mismatch)?;
        let found = Found::of(&pre).map_err(mismatch)?;
        let info = Arc::default();
        let digest = artifact.digest;
        let mut compiled = Compiled { pre, found, kind, waits, reads_requests, digest, info };
        compiled.info = Arc::new(self.describe(&compiled, spec, kind).await?);
        Ok(compiled)
    }

    fn component(&self, artifact: &Artifact) -> Result<Component, LoadError> {
        inspect::check_bytes(&artifact.bytes)?;
        let cached =
            self.cache.as_ref().and_then(|cache| cache.get(&self.engine, &artifact.digest));
        if let Some(component) = cached {
            return Ok(component);
        }
        let component = Component::from_binary(&self.engine, &artifact.bytes)
            .map_err(|error| LoadError::Compile { reason: sentence(&error) })?;
        if let Some(cache) = &self.cache {
            cache.put(&artifact.digest, &component);
        }
        Ok(component)
    }

    async fn describe(
        &self,
        compiled: &Compiled,
        spec: &PluginSpec,
        kind: Kind,
    ) -> Result<Info, LoadError> {
        let nowhere: Arc<str> = "".into();
        let state = (self.states)(&nowhere, &spec.key);
        let place = Arc::new(Place::new(spec, kind, nowhere, state));
        let mut warm = Warm::bare(compiled, &place).await?;
        let served = warm.serve(Task::Idle, &Describe).await;
        let info = served.given.map_err(|failure| Unmade::Failed(Describe::HOOK, failure))?;
        let clean = |text: &str| imports::clean(text, 1_024);
        Ok(Info {
            name: clean(&info.name),
            version: clean(&info.version),
            description: clean(&info.description),
            config_schema: info.config_schema,
        })
    }

    /// Linkers are made when the first plugin needs them.
    fn linker(&self, waits: bool) -> Result<&Linker<Ctx>, LoadError> {
        let cell = if waits { &self.waiting_linker } else { &self.linker };
        if let Some(linker) = cell.get() {
            return Ok(linker);
        }
        let made = if waits {
            imports::waiting_linker(&self.engine)
        } else {
            imports::sync_linker(&self.engine)
        };
        let linker = made.map_err(|error| LoadError::Engine { reason: sentence(&error) })?;
        Ok(cell.get_or_init(|| linker))
    }
}

/// Runs something that blocks for a while on a blocking thread.
pub(super) async fn beside<T: Send + 'static>(job: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = tokio::runtime::Handle::current();
    match runtime.clone().spawn_blocking(move || runtime.block_on(job)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // the process ends: nobody needs the answer any more
            Err(_) => std::future::pending().await,
        },
    }
}

/// Compiling beside calls must not take the processor from them.
fn yield_to_calls() {
    #[cfg(unix)]
    if let Err(error) = rustix::process::nice(10) {
        tracing::debug!(%error, "the compiling thread keeps its priority");
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RuntimeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RuntimeOptions")
            .field("cache_dir", &self.cache_dir)
            .field("instances", &self.instances)
            .finish_non_exhaustive()
    }
}
