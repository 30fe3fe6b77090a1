//! A plugin in its place in a connector: what outlives its instances and generations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::breaker::{Breaker, Leave, Who};
use super::failure::Failure;
use super::gates::{Gates, Turn};
use super::grants::HeaderGrants;
use super::inspect::Kind;
use super::lane::Lane;
use super::limits::{self, Hook};
use super::spec::{Limits, PluginSpec};
use super::stats::Counters;
use super::waiting::Waits;
use crate::outbound::Fetcher;
use crate::pipeline::port::LocalState;

/// What all instances of a plugin in a connector share.
pub(super) struct Place {
    /// The operator's name for the plugin.
    pub(super) plugin: Arc<str>,
    /// The connector.
    pub(super) connector: Arc<str>,
    /// What it is for.
    pub(super) kind: Kind,
    /// What it may use up.
    pub(super) limits: Limits,
    /// Headers that it may read and set.
    pub(super) headers: HeaderGrants,
    /// Where it may fetch from.
    pub(super) fetch: Option<Arc<Fetcher>>,
    /// Its state.
    pub(super) state: Arc<dyn LocalState>,
    /// Its numbers.
    pub(super) counters: Counters,
    /// Where it runs.
    pub(super) lane: Lane,
    /// Calls that wait for servers while they hold an instance.
    pub(super) waits: Arc<Waits>,
    gates: Gates,
    /// Whether the operator put the plugin out of use: one word for all places of an entry.
    disabled: Arc<AtomicBool>,
    started: Instant,
    log_second: AtomicU64,
    log_lines: AtomicU32,
}

impl Place {
    /// The place of an entry in a connector.
    pub(super) fn new(
        spec: &PluginSpec,
        kind: Kind,
        connector: Arc<str>,
        state: Arc<dyn LocalState>,
    ) -> Self {
        Self {
            disabled: Arc::default(),
            plugin: spec.key.clone(),
            connector,
            kind,
            limits: spec.limits,
            headers: HeaderGrants::of(&spec.grants),
            fetch: spec.grants.fetch.clone(),
            state,
            counters: Counters::default(),
            lane: Lane::new(spec.bundled()),
            waits: Arc::new(Waits::of(spec.instances() as usize)),
            gates: Gates::default(),
            started: Instant::now(),
            log_second: AtomicU64::new(0),
            log_lines: AtomicU32::new(0),
        }
    }

    /// A place that is out of use while this is set.
    pub(super) fn switched_by(self, disabled: &Arc<AtomicBool>) -> Self {
        Self { disabled: disabled.clone(), ..self }
    }

    /// Whether the operator put the plugin out of use.
    pub(super) fn disabled(&self) -> bool {
        self.disabled.load(Relaxed)
    }

    /// Whether the plugin may be asked for this caller.
    pub(super) fn ask(self: &Arc<Self>, hook: Hook, who: Who) -> Result<Pass, Failure> {
        if self.disabled() {
            return Err(Failure::Disabled);
        }
        let (leave, turn) = self.gates.ask(hook, Instant::now(), who);
        self.say(turn);
        let leave = leave.map_err(Failure::Aside)?;
        Ok(Pass { place: self.clone(), hook, leave, who, told: false })
    }

    /// Whether the plugin is put aside now.
    pub(super) fn aside(&self) -> bool {
        self.gates.aside()
    }

    /// Another generation serves: its failures are its own.
    pub(super) fn renewed(&self) {
        self.with_breaker(Hook::Route, Breaker::reset);
        self.with_breaker(Hook::Answer, Breaker::reset);
    }

    /// Whether a log line may be written now; counts those that may not.
    pub(super) fn may_log(&self) -> bool {
        let second = self.started.elapsed().as_secs();
        if self.log_second.swap(second, Relaxed) != second {
            self.log_lines.store(0, Relaxed);
        }
        if self.log_lines.fetch_add(1, Relaxed) < limits::LOG_LINES_PER_SECOND {
            return true;
        }
        if self.counters.log_dropped.fetch_add(1, Relaxed).is_multiple_of(10_000) {
            tracing::warn!(
                plugin = &*self.plugin,
                connector = &*self.connector,
                "the plugin floods the log; lines are dropped"
            );
        }
        false
    }

    /// Microseconds since the place was made.
    pub(super) fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    fn with_breaker(&self, hook: Hook, act: impl FnOnce(&mut Breaker)) {
        let ((), turn) = self.gates.change(hook, act);
        self.say(turn);
    }

    fn say(&self, turn: Option<Turn>) {
        let (plugin, connector) = (&*self.plugin, &*self.connector);
        match turn {
            None => {}
            Some(Turn::Aside) => {
                tracing::error!(plugin, connector, "the plugin keeps failing and is put aside");
            }
            Some(Turn::Back) => tracing::info!(plugin, connector, "the plugin is back"),
        }
    }
}

/// Leave to ask a plugin once. Dropped without a word, it counts as a cancelled call.
#[derive(Debug)]
pub(super) struct Pass {
    place: Arc<Place>,
    hook: Hook,
    leave: Leave,
    who: Who,
    told: bool,
}

impl Pass {
    /// The call ended.
    pub(super) fn tell<T>(mut self, result: &Result<T, Failure>) {
        self.told = true;
        let now = Instant::now();
        let failure = match result {
            Ok(_) if self.leave == Leave::Normal => return,
            Ok(_) => None,
            Err(failure) => Some(failure),
        };
        self.place.with_breaker(self.hook, |breaker| match failure {
            None => breaker.succeeded(now, self.leave),
            Some(Failure::Broken(_)) => breaker.broken(now),
            Some(failure) if failure.counts() => breaker.failed(now, self.leave, self.who),
            Some(_) => breaker.abandoned(self.leave),
        });
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if !self.told && self.leave == Leave::Trial {
            self.place.with_breaker(self.hook, |breaker| breaker.abandoned(self.leave));
        }
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place")
            .field("plugin", &self.plugin)
            .field("connector", &self.connector)
            .finish_non_exhaustive()
    }
}
