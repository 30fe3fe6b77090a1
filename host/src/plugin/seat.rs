//! A plugin in its place in a connector, asked by the callers of its kind.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ask::{Ask, Ready};
use super::breaker::Who;
use super::failure::Failure;
use super::generation::{Generation, Lease};
use super::limits::{Hook, WALL};
use super::place::Place;
use super::stats::PluginStats;
use super::task::Task;
use crate::pipeline::Caller;

/// A plugin in a connector.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) place: Arc<Place>,
    pub(super) current: ArcSwap<Generation>,
    pub(super) config: Arc<str>,
    pub(super) threads: Arc<Threads>,
}

/// Calls that may be on blocking threads at once, of all plugins together.
#[derive(Debug)]
pub(super) struct Threads {
    hot: Semaphore,
    slow: Semaphore,
}

impl Threads {
    /// Shapes and the like share few threads, so that they leave some processor to calls.
    pub(super) fn new() -> Self {
        Self { hot: Semaphore::new(32), slow: Semaphore::new(4) }
    }

    fn of(&self, hook: Hook) -> (&Semaphore, Duration) {
        if hook.slow() {
            (&self.slow, Duration::from_secs(10))
        } else {
            (&self.hot, Duration::from_millis(500))
        }
    }
}

impl Seat {
    /// Asks the plugin.
    pub(super) async fn ask<A: Ask>(
        &self,
        who: Who,
        task: Task,
        ask: A,
    ) -> Result<(A::Given, Task), Failure> {
        let request = task.request_id().cloned();
        let result = match self.place.ask(A::HOOK, who) {
            Ok(pass) => {
                let result = self.run(task, ask).await;
                pass.tell(&result);
                result
            }
            Err(failure) => Err(failure),
        };
        if let Err(failure) = &result {
            self.failed(A::HOOK, failure, request.as_deref());
        }
        result
    }

    async fn run<A: Ask>(&self, task: Task, ask: A) -> Result<(A::Given, Task), Failure> {
        let generation = self.current.load_full();
        let waits = generation.compiled.waits;
        let lease = generation.lease(A::HOOK.patience()).await?;
        // nothing may be waited for in `shape`, which computes long
        if waits && A::HOOK != Hook::Shape {
            // the guest yields every epoch, and its own time is counted; the wall clock bounds what it waits for
            let serving = async {
                if A::HOOK.slow() {
                    return self.off_loop(lease, task, ask).await;
                }
                lease.serve(task, ask).await
            };
            return timeout(WALL, Box::pin(serving)).await.unwrap_or(Err(Failure::Timeout));
        }
        if !A::HOOK.slow() && lease.warm() && self.place.lane.on_loop() {
            return lease.serve(task, ask).await;
        }
        self.off_loop(lease, task, ask).await
    }

    async fn off_loop<A: Ask>(
        &self,
        lease: Lease,
        task: Task,
        ask: A,
    ) -> Result<(A::Given, Task), Failure> {
        let (threads, patience) = self.threads.of(A::HOOK);
        let Ok(Ok(_thread)) = timeout(patience, threads.acquire()).await else {
            return Err(Failure::Busy);
        };
        let runtime = Handle::current();
        let job = runtime.clone().spawn_blocking(move || runtime.block_on(lease.serve(task, ask)));
        match job.await {
            Ok(served) => served,
            Err(error) => Err(Failure::Trap(format!("the host failed: {error}"))),
        }
    }

    /// Changes with every swap, and when the operator puts the plugin out of use or back.
    pub(super) fn version(&self) -> u64 {
        self.current.load().id.wrapping_mul(2) | u64::from(self.place.disabled())
    }

    /// Counts and logs a failure.
    fn failed(&self, hook: Hook, failure: &Failure, request_id: Option<&str>) {
        self.place.counters.failed(hook, failure);
        if self.place.may_log() {
            tracing::warn!(
                request_id,
                plugin = &*self.place.plugin,
                connector = &*self.place.connector,
                generation = self.current.load().id,
                hook = hook.as_str(),
                class = Failure::CLASSES.get(failure.class()).copied().unwrap_or_default(),
                "the plugin gave no decision: {}",
                failure.describe()
            );
        }
    }

    /// Counts a decision that makes no sense: it is a failure like others, for numbers and log.
    pub(super) fn checked<T>(
        &self,
        hook: Hook,
        result: Result<T, Failure>,
        request_id: Option<&str>,
    ) -> Result<T, Failure> {
        if let Err(failure) = &result {
            self.failed(hook, failure, request_id);
        }
        result
    }

    /// Whether the plugin says that it is ready.
    pub(super) async fn ready(&self) -> Result<String, String> {
        if !self.current.load().compiled.found.readiness() {
            return Ok(String::new());
        }
        match self.ask(0, Task::Idle, Ready).await {
            Ok((said, _)) => said,
            Err(failure) => Err(failure.describe()),
        }
    }

    /// Its numbers; `degraded` says why the file on disk is not what serves.
    pub(super) fn stats(&self, degraded: Option<Arc<str>>) -> PluginStats {
        use std::sync::atomic::Ordering::Relaxed;
        let counters = &self.place.counters;
        let created = counters.created.load(Relaxed);
        let discarded = counters.discarded.load(Relaxed);
        PluginStats {
            plugin: self.place.plugin.clone(),
            connector: self.place.connector.clone(),
            kind: self.place.kind.as_str(),
            generation: self.current.load().id,
            live: created.saturating_sub(discarded),
            created,
            discarded,
            log_dropped: counters.log_dropped.load(Relaxed),
            on_loop: self.place.lane.on_loop(),
            aside: self.place.aside(),
            disabled: self.place.disabled(),
            degraded,
            hooks: counters.hooks(),
        }
    }
}

/// A number that tells callers apart for the breaker. All whom nobody identified are one: a client has as many sessions as it
/// likes.
pub(super) fn who(caller: &Caller) -> Who {
    if caller.anonymous { 0 } else { apart(caller) }
}

/// A number that tells callers apart, sessions without an identity, too.
pub(super) fn apart(caller: &Caller) -> Who {
    let mut hasher = DefaultHasher::new();
    caller.id.hash(&mut hasher);
    hasher.finish()
}
