//! What lives beside one instance: the task in hand, its budget, its memory limit, and WASI where the guest uses it.

use std::sync::Arc;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use wasmtime::component::ResourceTable;
use wasmtime::{ResourceLimiter, Result, UpdateDeadline, bail};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::engine::TICK;
use super::failure::TooManyHostCalls;
use super::imports::wasi;
use super::limits::{self, Hook};
use super::place::Place;
use super::task::Task;

/// The data of a store.
pub(super) struct Ctx {
    /// The plugin in its connector.
    pub(super) place: Arc<Place>,
    /// What the guest is doing.
    pub(super) task: Task,
    /// What the present call may still use.
    pub(super) budget: Budget,
    /// The memory limit.
    pub(super) memory: Memory,
    wasi: Option<WasiCtx>,
    table: ResourceTable,
}

/// What one call may still use.
#[derive(Debug)]
pub(super) struct Budget {
    host_calls: u32,
    /// Log lines that it may still write.
    pub(super) log_lines: u32,
    /// When it began.
    pub(super) started: Instant,
    /// Requests that it may still send to upstreams.
    pub(super) requests: u32,
    /// Times that it may still fetch.
    pub(super) fetches: u32,
    /// Epochs that it may still compute; counted only where calls may wait.
    pub(super) ticks: u64,
    /// The thread at the last epoch of a plugin that may wait, and the processor time that it had used.
    epoch: Option<(ThreadId, Duration)>,
    /// Processor time of the thread when half of the time was over.
    halfway: Option<Duration>,
    /// How often the time was extended.
    extended: u32,
}

/// A guest that did not get the processor is given more time at most so often.
const EXTENSIONS: u32 = 100;

impl Budget {
    /// The budget of a hook.
    pub(super) fn of(hook: Hook, ticks: u64) -> Self {
        Self {
            host_calls: hook.host_calls(),
            log_lines: limits::LOG_LINES_PER_CALL,
            started: Instant::now(),
            requests: limits::UPSTREAM_REQUESTS,
            fetches: limits::FETCHES,
            ticks,
            epoch: None,
            halfway: None,
            extended: 0,
        }
    }
}

impl Budget {
    /// Epochs pass by the wall clock, but a guest whose thread waits for a processor did nothing wrong. So the first half
    /// of a call's time goes by the wall, and the second by what the thread really computed since.
    pub(super) fn over(&mut self, half: u64) -> UpdateDeadline {
        let now = thread_time();
        let Some(halfway) = self.halfway else {
            self.halfway = Some(now);
            return UpdateDeadline::Continue(half);
        };
        let used = u64::try_from(now.saturating_sub(halfway).as_millis()).unwrap_or(u64::MAX);
        // an epoch may be nearly over when it begins
        let left = half.saturating_sub(used.saturating_add(1));
        if left == 0 || self.extended >= EXTENSIONS {
            return UpdateDeadline::Interrupt;
        }
        self.extended += 1;
        UpdateDeadline::Continue(left)
    }

    /// An epoch passed in a guest that gives way every epoch. Whether it may go on: an epoch in which its thread did not get
    /// the processor counts for nothing, up to a bound.
    pub(super) fn spend(&mut self) -> bool {
        let (thread, now) = (std::thread::current().id(), thread_time());
        let before = self.epoch.replace((thread, now));
        let starved = before
            .is_some_and(|(known, then)| known == thread && now.saturating_sub(then) < TICK / 2);
        if starved && self.extended < EXTENSIONS {
            self.extended += 1;
            return true;
        }
        let left = self.ticks.checked_sub(1);
        self.ticks = left.unwrap_or_default();
        left.is_some()
    }
}

/// What this thread computed so far.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Where no clock counts what a thread computes, the wall clock decides about the second half, too.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Linear memory of one instance.
#[derive(Debug)]
pub(super) struct Memory {
    limit: usize,
    /// Bytes in use.
    pub(super) used: usize,
    /// Whether a growth was refused since the last look.
    pub(super) refused: bool,
}

impl Ctx {
    /// The data of a new store.
    pub(super) fn new(place: Arc<Place>) -> Self {
        let limit = (place.limits.memory_mib.min(limits::MEMORY_MIB_MAX) as usize) << 20;
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits::RESOURCES_MAX);
        Self {
            place,
            task: Task::Idle,
            budget: Budget::of(Hook::Describe, 0),
            memory: Memory { limit, used: 0, refused: false },
            wasi: None,
            table,
        }
    }

    /// Counts one host call.
    pub(super) fn charge(&mut self) -> Result<()> {
        match self.budget.host_calls.checked_sub(1) {
            Some(left) => self.budget.host_calls = left,
            None => bail!(TooManyHostCalls),
        }
        Ok(())
    }

    /// The table of streams and pollables.
    pub(super) fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }
}

impl WasiView for Ctx {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let ctx = self.wasi.get_or_insert_with(|| wasi::empty(&self.place));
        WasiCtxView { ctx, table: &mut self.table }
    }
}

impl ResourceLimiter for Ctx {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> Result<bool> {
        let used = self.memory.used.saturating_add(desired.saturating_sub(current));
        if used > self.memory.limit {
            self.memory.refused = true;
            return Ok(false);
        }
        self.memory.used = used;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> Result<bool> {
        Ok(desired <= limits::TABLE_MAX)
    }
}

impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx")
            .field("place", &self.place)
            .field("budget", &self.budget)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}
