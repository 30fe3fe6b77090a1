//! One instance that is configured and waits for calls.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use plugway_bindings::Hooks;
use wasmtime::{Store, UpdateDeadline};

use super::ask::{Ask, Configure};
use super::compiled::Compiled;
use super::ctx::{Budget, Ctx};
use super::engine::ticks;
use super::error::{LoadError, sentence};
use super::failure::Failure;
use super::limits::{CALLS_MAX, GROWTH_MAX, Hook};
use super::place::Place;
use super::task::Task;

/// An instance. It serves one call at a time.
pub(super) struct Warm {
    pub(super) store: Store<Ctx>,
    pub(super) hooks: Hooks,
    /// Whether it must be called in the asynchronous way.
    pub(super) waits: bool,
    calls: u32,
    /// Memory that it had when it was configured.
    configured: usize,
}

/// Why there is no instance.
#[derive(Debug)]
pub(super) enum Unmade {
    /// The engine could not make one.
    Engine(String),
    /// A type differs from the contract's.
    Mismatch(String),
    /// The guest refuses its configuration.
    Refused(String),
    /// A hook failed.
    Failed(Hook, Failure),
}

/// What a call gave, and what it left.
pub(super) struct Served<T> {
    /// The decision, or why there is none.
    pub(super) given: Result<T, Failure>,
    /// The task, with what was noted about it.
    pub(super) task: Task,
    /// How long the guest took.
    pub(super) took: Duration,
}

impl Warm {
    /// An instance that is not configured yet.
    pub(super) async fn bare(compiled: &Compiled, place: &Arc<Place>) -> Result<Self, Unmade> {
        let engine = compiled.pre.engine();
        let mut store = Store::new(engine, Ctx::new(place.clone()));
        store.limiter(|ctx| ctx);
        let limit = Hook::Configure.deadline(place.limits.time);
        let epochs = ticks(limit);
        store.data_mut().budget = Budget::of(Hook::Configure, epochs);
        if compiled.waits {
            store.epoch_deadline_callback(|mut ctx| {
                if !ctx.data_mut().budget.spend() {
                    return Ok(UpdateDeadline::Interrupt);
                }
                Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
            });
        } else {
            store.epoch_deadline_callback(|mut ctx| {
                let budget = &mut ctx.data_mut().budget;
                Ok(budget.over(budget.ticks.div_ceil(2)))
            });
        }
        store.set_epoch_deadline(if compiled.waits { 1 } else { epochs.div_ceil(2) });
        let made = if compiled.waits {
            compiled.pre.instantiate_async(&mut store).await
        } else {
            compiled.pre.instantiate(&mut store)
        };
        let instance = made.map_err(|error| Unmade::Engine(sentence(&error)))?;
        let hooks = compiled
            .found
            .load(&mut store, &instance)
            .map_err(|error| Unmade::Mismatch(sentence(&error)))?;
        place.counters.created.fetch_add(1, Relaxed);
        Ok(Self { store, hooks, waits: compiled.waits, calls: 0, configured: 0 })
    }

    /// An instance that is configured.
    pub(super) async fn make(
        compiled: &Compiled,
        place: &Arc<Place>,
        config: &Arc<str>,
    ) -> Result<Self, Unmade> {
        let mut warm = Self::bare(compiled, place).await?;
        let served = warm.serve(Task::Idle, &Configure(config.clone())).await;
        place.counters.call(Hook::Configure, served.took);
        match served.given {
            Ok(Ok(())) => {}
            Ok(Err(said)) => return Err(Unmade::Refused(said)),
            Err(failure) => {
                place.counters.failed(Hook::Configure, &failure);
                return Err(Unmade::Failed(Hook::Configure, failure));
            }
        }
        warm.configured = warm.store.data().memory.used;
        Ok(warm)
    }

    /// Asks the guest, within the limits of the hook.
    pub(super) async fn serve<A: Ask>(&mut self, task: Task, ask: &A) -> Served<A::Given> {
        let time = self.store.data().place.limits.time;
        let epochs = ticks(A::HOOK.deadline(time));
        self.store.set_epoch_deadline(if self.waits { 1 } else { epochs.div_ceil(2) });
        self.store.set_hostcall_fuel(A::HOOK.lift_max());
        let ctx = self.store.data_mut();
        ctx.task = task;
        ctx.budget = Budget::of(A::HOOK, epochs);
        ctx.memory.refused = false;
        self.calls += 1;
        let start = Instant::now();
        let given = ask.put(self).await;
        let took = start.elapsed();
        let ctx = self.store.data_mut();
        let given = given.map_err(|error| Failure::of(&error, ctx.memory.refused));
        Served { given, task: std::mem::take(&mut ctx.task), took }
    }

    /// Whether it may serve another call.
    pub(super) fn reusable(&self) -> bool {
        let grown = self.store.data().memory.used.saturating_sub(self.configured);
        self.calls < CALLS_MAX && grown <= GROWTH_MAX
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        self.store.data().place.counters.discarded.fetch_add(1, Relaxed);
    }
}

impl From<Unmade> for LoadError {
    fn from(unmade: Unmade) -> Self {
        match unmade {
            Unmade::Engine(reason) => Self::Engine { reason },
            Unmade::Mismatch(reason) => Self::Mismatch { reason },
            Unmade::Refused(reason) => {
                Self::Configuration { reason: super::imports::clean(&reason, 2_048) }
            }
            Unmade::Failed(hook, failure) => {
                Self::Trial { hook: hook.as_str(), reason: failure.describe() }
            }
        }
    }
}

impl From<Unmade> for Failure {
    fn from(unmade: Unmade) -> Self {
        Self::Broken(LoadError::from(unmade).to_string())
    }
}

impl std::fmt::Debug for Warm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Warm").field("calls", &self.calls).finish_non_exhaustive()
    }
}
