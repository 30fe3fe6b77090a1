//! One version of a plugin in a seat: its configuration and its pool of instances.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_queue::ArrayQueue;
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::ask::{Ask, Interests, Ready};
use super::compiled::Compiled;
use super::error::LoadError;
use super::failure::Failure;
use super::limits::{INTEREST_MAX, INTERESTS_MAX};
use super::place::Place;
use super::task::Task;
use super::warm::{Unmade, Warm};
use crate::hex::hex;

/// What a generation is made of.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) id: u64,
    pub(super) compiled: Arc<Compiled>,
    pub(super) place: Arc<Place>,
    pub(super) config: Arc<str>,
    pub(super) instances: u32,
    /// Whether one that says that it is not ready is refused.
    pub(super) strict: bool,
}

/// What stands for a component with a configuration.
fn revision(component: &[u8; 32], config: &str) -> Arc<str> {
    let digest = Sha256::new().chain_update(component).chain_update(config).finalize();
    hex(digest.get(..6).unwrap_or_default()).into()
}

/// A version that serves, or served until its last call ends.
#[derive(Debug)]
pub(super) struct Generation {
    /// Counts up with every swap.
    pub(super) id: u64,
    /// The code.
    pub(super) compiled: Arc<Compiled>,
    /// Where it serves.
    pub(super) place: Arc<Place>,
    /// Tools whose answers it learns from.
    pub(super) interests: Box<[String]>,
    /// Which component and configuration that is: the beginning of a digest of both.
    pub(super) revision: Arc<str>,
    config: Arc<str>,
    idle: ArrayQueue<Box<Warm>>,
    permits: Arc<Semaphore>,
}

impl Generation {
    /// A version with one instance, configured and tried.
    pub(super) async fn prepare(plan: Plan) -> Result<Self, LoadError> {
        let Plan { id, compiled, place, config, instances, strict } = plan;
        let mut warm = Warm::make(&compiled, &place, &config).await?;
        if compiled.found.readiness() {
            let served = warm.serve(Task::Idle, &Ready).await;
            place.counters.call(Ready::HOOK, served.took);
            match served.given {
                Ok(Ok(_)) => {}
                Ok(Err(said)) if strict => {
                    return Err(LoadError::Trial {
                        hook: "ready",
                        reason: format!("it is not ready: {said}"),
                    });
                }
                Ok(Err(said)) => {
                    tracing::warn!(plugin = &*place.plugin, said, "the plugin is not ready yet");
                }
                Err(failure) => return Err(Unmade::Failed(Ready::HOOK, failure).into()),
            }
        }
        let interests = interests(&mut warm).await?;
        let idle = ArrayQueue::new(instances as usize);
        if idle.push(Box::new(warm)).is_err() {
            debug_assert!(false, "a new pool has room");
        }
        let permits = Arc::new(Semaphore::new(instances as usize));
        let revision = revision(&compiled.digest, &config);
        Ok(Self { id, compiled, place, interests, revision, config, idle, permits })
    }

    /// The right to use one instance; waits a little for it.
    pub(super) async fn lease(self: Arc<Self>, patience: Duration) -> Result<Lease, Failure> {
        let permit = match self.permits.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => match timeout(patience, self.permits.clone().acquire_owned()).await {
                Ok(Ok(permit)) => permit,
                Ok(Err(_)) | Err(_) => return Err(Failure::Busy),
            },
        };
        let warm = self.idle.pop();
        Ok(Lease { generation: self, warm, permit })
    }

    async fn make(&self) -> Result<Box<Warm>, Unmade> {
        Warm::make(&self.compiled, &self.place, &self.config).await.map(Box::new)
    }
}

/// What the plugin wants to learn from; nothing where it does not learn.
async fn interests(warm: &mut Warm) -> Result<Box<[String]>, LoadError> {
    if warm.hooks.learning.is_none() {
        return Ok(Box::default());
    }
    let served = warm.serve(Task::Idle, &Interests).await;
    warm.store.data().place.counters.call(Interests::HOOK, served.took);
    let globs = served.given.map_err(|failure| Unmade::Failed(Interests::HOOK, failure))?;
    if globs.len() > INTERESTS_MAX || globs.iter().any(|glob| glob.len() > INTEREST_MAX) {
        let reason = format!(
            "it names more than {INTERESTS_MAX} globs, or longer ones than {INTEREST_MAX} bytes"
        );
        return Err(LoadError::Trial { hook: Interests::HOOK.as_str(), reason });
    }
    Ok(globs.into())
}

/// The right to use one instance. Dropped in the middle of a call, it takes the instance along.
pub(super) struct Lease {
    generation: Arc<Generation>,
    warm: Option<Box<Warm>>,
    permit: OwnedSemaphorePermit,
}

impl Lease {
    /// Whether an instance is there already.
    pub(super) fn warm(&self) -> bool {
        self.warm.is_some()
    }

    /// Asks, making an instance first where there is none. The instance goes back if it can serve again; otherwise another
    /// one is made beside the calls.
    pub(super) async fn serve<A: Ask>(
        mut self,
        task: Task,
        ask: A,
    ) -> Result<(A::Given, Task), Failure> {
        let place = self.generation.place.clone();
        let mut warm = match self.warm.take() {
            Some(warm) => warm,
            None => self.generation.make().await?,
        };
        let served = warm.serve(task, &ask).await;
        place.counters.call(A::HOOK, served.took);
        if served.given.is_ok() && warm.reusable() {
            self.give_back(warm);
        } else {
            drop(warm);
            self.refill();
        }
        if !A::HOOK.slow() {
            match served.given {
                Err(Failure::Timeout) => place.lane.timed_out(),
                _ => place.lane.took(served.took),
            }
        }
        served.given.map(|given| (given, served.task))
    }

    /// Back into the pool before the permit is free again, so that whoever gets it finds the instance.
    fn give_back(self, warm: Box<Warm>) {
        if self.generation.idle.push(warm).is_err() {
            debug_assert!(false, "no more instances than permits");
        }
        drop(self.permit);
    }

    fn refill(self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.clone().spawn_blocking(move || {
            match runtime.block_on(self.generation.make()) {
                Ok(warm) => self.give_back(warm),
                // the next call tries again, and tells the breaker
                Err(unmade) => tracing::debug!(?unmade, "no new plugin instance"),
            }
        });
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("warm", &self.warm).finish_non_exhaustive()
    }
}
