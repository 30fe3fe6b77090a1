//! What is counted about a plugin: atomics on the hot path, plain numbers for whoever reports them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::failure::Failure;
use super::limits::Hook;

/// Upper bounds of the histogram in microseconds; one more bucket takes the rest.
pub const BUCKETS_US: [u64; 14] =
    [2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000];

/// Counters of one plugin in one connector.
#[derive(Debug, Default)]
pub struct Counters {
    hooks: [HookCounters; Hook::ALL.len()],
    /// Instances made.
    pub created: AtomicU64,
    /// Instances thrown away.
    pub discarded: AtomicU64,
    /// Log lines dropped.
    pub log_dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct HookCounters {
    calls: AtomicU64,
    errors: [AtomicU64; Failure::CLASSES.len()],
    buckets: [AtomicU64; BUCKETS_US.len() + 1],
    sum_ns: AtomicU64,
}

impl Counters {
    /// A call ended after so long.
    pub fn call(&self, hook: Hook, time: Duration) {
        let Some(counters) = self.hooks.get(hook as usize) else { return };
        counters.calls.fetch_add(1, Relaxed);
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        counters.sum_ns.fetch_add(ns, Relaxed);
        let us = ns / 1_000;
        let place = BUCKETS_US.iter().position(|bound| us < *bound).unwrap_or(BUCKETS_US.len());
        if let Some(bucket) = counters.buckets.get(place) {
            bucket.fetch_add(1, Relaxed);
        }
    }

    /// A call failed.
    pub fn failed(&self, hook: Hook, failure: &Failure) {
        let counters = self.hooks.get(hook as usize);
        if let Some(errors) = counters.and_then(|hook| hook.errors.get(failure.class())) {
            errors.fetch_add(1, Relaxed);
        }
    }

    /// The numbers of every hook that was called or failed.
    pub fn hooks(&self) -> Vec<HookStats> {
        Hook::ALL
            .into_iter()
            .zip(&self.hooks)
            .map(|(hook, own)| own.read(hook))
            .filter(HookStats::used)
            .collect()
    }
}

impl HookCounters {
    fn read(&self, hook: Hook) -> HookStats {
        HookStats {
            hook: hook.as_str(),
            calls: self.calls.load(Relaxed),
            errors: Failure::CLASSES
                .into_iter()
                .zip(&self.errors)
                .map(|(class, count)| (class, count.load(Relaxed)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            buckets: self.buckets.iter().map(|bucket| bucket.load(Relaxed)).collect(),
            sum: Duration::from_nanos(self.sum_ns.load(Relaxed)),
        }
    }
}

/// The numbers of one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStats {
    /// Its word.
    pub hook: &'static str,
    /// Calls that reached an instance.
    pub calls: u64,
    /// Failures by class, where there are any; also those that reached no instance.
    pub errors: Vec<(&'static str, u64)>,
    /// Calls by time: one for each of [`BUCKETS_US`], and the rest. Not cumulative.
    pub buckets: Vec<u64>,
    /// Time of all calls together.
    pub sum: Duration,
}

impl HookStats {
    fn used(&self) -> bool {
        self.calls > 0 || !self.errors.is_empty()
    }
}

/// The numbers of one plugin in one connector.
#[derive(Clone, Debug)]
pub struct PluginStats {
    /// The operator's name for the plugin.
    pub plugin: Arc<str>,
    /// The connector.
    pub connector: Arc<str>,
    /// "router" or "policy".
    pub kind: &'static str,
    /// Counts up with every swap.
    pub generation: u64,
    /// Instances that live now.
    pub live: u64,
    /// Instances made.
    pub created: u64,
    /// Instances thrown away.
    pub discarded: u64,
    /// Log lines dropped.
    pub log_dropped: u64,
    /// Whether calls run on the event loop.
    pub on_loop: bool,
    /// Whether it is put aside.
    pub aside: bool,
    /// Whether the operator put it out of use.
    pub disabled: bool,
    /// Why the file on disk is not what serves, if it is not.
    pub degraded: Option<Arc<str>>,
    /// Numbers by hook.
    pub hooks: Vec<HookStats>,
}
