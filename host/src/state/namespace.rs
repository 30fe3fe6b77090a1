//! The state of one plugin entry in one connector: keys with a quota, each expiring.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use super::bucket::Bucket;
use super::window::Window;
use crate::pipeline::port::{Charge, Exhausted, LocalState};

/// What a namespace may hold.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// Keys.
    pub keys: usize,
    /// Bytes of keys and values together, with what each key costs.
    pub bytes: usize,
}

impl Default for Quota {
    fn default() -> Self {
        Self { keys: 10_000, bytes: 4 << 20 }
    }
}

/// What a key costs beside its own bytes and those of its value.
const OVERHEAD: usize = 96;
/// What a window may grow to.
const WINDOW: usize = 1_100;

/// One namespace.
#[derive(Debug)]
pub struct Namespace {
    quota: Quota,
    pub(super) keys: DashMap<Box<str>, Record>,
    pub(super) counting: Mutex<()>,
    count: AtomicUsize,
    bytes: AtomicUsize,
    counters: [AtomicU32; 64],
}

#[derive(Debug)]
pub(super) struct Record {
    pub(super) value: Value,
    ends: Option<Instant>,
    size: usize,
}

#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Number(f64),
    Window(Window),
    Bucket { bucket: Bucket, per_minute: u32, burst: u32 },
}

impl Record {
    fn over(&self, now: Instant) -> bool {
        if self.ends.is_some_and(|ends| ends <= now) {
            return true;
        }
        match &self.value {
            Value::Window(window) => window.empty(now),
            Value::Bucket { bucket, per_minute, burst } => bucket.is_full(now, *per_minute, *burst),
            Value::Text(_) | Value::Number(_) => false,
        }
    }
}

impl Namespace {
    /// An empty namespace.
    pub fn new(quota: Quota) -> Self {
        Self {
            quota,
            keys: DashMap::with_shard_amount(4),
            counting: Mutex::new(()),
            count: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            counters: [const { AtomicU32::new(0) }; 64],
        }
    }

    /// Forgets every key that is over.
    pub fn sweep(&self, now: Instant) {
        self.keys.retain(|_, record| {
            let over = record.over(now);
            if over {
                self.release(record.size);
            }
            !over
        });
    }

    /// Keys held, those that are over but not swept included.
    pub fn len(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Room for a new key, after a sweep where there is none.
    fn reserve(&self, size: usize, now: Instant) -> Result<(), Exhausted> {
        if self.try_reserve(size) {
            return Ok(());
        }
        self.sweep(now);
        if self.try_reserve(size) { Ok(()) } else { Err(Exhausted) }
    }

    fn try_reserve(&self, size: usize) -> bool {
        let keys = self.count.fetch_add(1, Relaxed) + 1;
        let bytes = self.bytes.fetch_add(size, Relaxed) + size;
        let fits = keys <= self.quota.keys && bytes <= self.quota.bytes;
        if !fits {
            self.release(size);
        }
        fits
    }

    fn release(&self, size: usize) {
        self.count.fetch_sub(1, Relaxed);
        self.bytes.fetch_sub(size, Relaxed);
    }

    /// Changes a key under its lock. `make` says what a missing key (or one that is over) starts as; `act` changes what
    /// is there and gives the answer. The size may change by `act` only in texts, which go through [`Self::put`].
    fn with<T>(
        &self,
        key: &str,
        extra: usize,
        make: impl FnOnce(Instant) -> (Value, Option<Instant>),
        act: impl FnOnce(&mut Value, Instant) -> T,
    ) -> Result<T, Exhausted> {
        let now = Instant::now();
        if let Some(mut record) = self.keys.get_mut(key)
            && !record.over(now)
        {
            return Ok(act(&mut record.value, now));
        }
        let size = key.len() + extra + OVERHEAD;
        // outside the key's lock, since making room locks the others
        self.reserve(size, now)?;
        match self.keys.entry(key.into()) {
            Entry::Occupied(mut held) => {
                if held.get().over(now) {
                    let (value, ends) = make(now);
                    let old = held.insert(Record { value, ends, size });
                    self.release(old.size);
                } else {
                    self.release(size);
                }
                Ok(act(&mut held.get_mut().value, now))
            }
            Entry::Vacant(free) => {
                let (value, ends) = make(now);
                let mut record = free.insert(Record { value, ends, size });
                Ok(act(&mut record.value, now))
            }
        }
    }

    /// Takes; the caller holds [`Self::counting`].
    pub(super) fn take_counting(
        &self,
        key: &str,
        cost: u32,
        limit: u32,
        window: Duration,
    ) -> Result<Duration, Exhausted> {
        let make = |_| (Value::Window(Window::default()), None);
        self.with(key, WINDOW, make, |value, now| {
            if !matches!(value, Value::Window(_)) {
                *value = Value::Window(Window::default());
            }
            match value {
                Value::Window(own) => own.take(now, cost, limit, window),
                _ => Duration::ZERO,
            }
        })
    }

    /// Draws; the caller holds [`Self::counting`].
    pub(super) fn draw_counting(
        &self,
        key: &str,
        cost: u32,
        per_minute: u32,
        burst: u32,
    ) -> Result<Duration, Exhausted> {
        let new = |now| Value::Bucket { bucket: Bucket::full(now, burst), per_minute, burst };
        self.with(
            key,
            32,
            |now| (new(now), None),
            |value, now| {
                if !matches!(value, Value::Bucket { .. }) {
                    *value = new(now);
                }
                match value {
                    Value::Bucket { bucket, per_minute: own_rate, burst: own_burst } => {
                        (*own_rate, *own_burst) = (per_minute, burst);
                        bucket.draw(now, cost, per_minute, burst)
                    }
                    _ => Duration::ZERO,
                }
            },
        )
    }

    /// Stores a text where `fits` says so of what is there.
    fn put(
        &self,
        key: &str,
        text: &str,
        ttl: Option<Duration>,
        fits: impl Fn(Option<&Value>) -> bool,
    ) -> Result<bool, Exhausted> {
        let now = Instant::now();
        let size = key.len() + text.len() + OVERHEAD;
        if let Some(mut held) = self.keys.get_mut(key)
            && !held.over(now)
        {
            if !fits(Some(&held.value)) {
                return Ok(false);
            }
            self.resize(held.size, size)?;
            *held = Record { value: Value::Text(text.into()), ends: ends(now, ttl), size };
            return Ok(true);
        }
        let record = || Record { value: Value::Text(text.into()), ends: ends(now, ttl), size };
        self.reserve(size, now)?;
        let done = match self.keys.entry(key.into()) {
            Entry::Occupied(mut held) => {
                let present = Some(held.get()).filter(|record| !record.over(now));
                let wanted = fits(present.map(|record| &record.value));
                if wanted {
                    let old = held.insert(record());
                    self.release(old.size);
                }
                wanted
            }
            Entry::Vacant(free) => {
                let wanted = fits(None);
                if wanted {
                    free.insert(record());
                }
                wanted
            }
        };
        if !done {
            self.release(size);
        }
        Ok(done)
    }

    /// Another text under a key that is held: only its growth needs room.
    fn resize(&self, old: usize, new: usize) -> Result<(), Exhausted> {
        let growth = new.saturating_sub(old);
        if growth > 0 && self.bytes.fetch_add(growth, Relaxed) + growth > self.quota.bytes {
            self.bytes.fetch_sub(growth, Relaxed);
            return Err(Exhausted);
        }
        self.bytes.fetch_sub(old.saturating_sub(new), Relaxed);
        Ok(())
    }
}

fn ends(now: Instant, ttl: Option<Duration>) -> Option<Instant> {
    ttl.and_then(|ttl| now.checked_add(ttl))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Window(_) | Value::Bucket { .. } => None,
    }
}

impl LocalState for Namespace {
    fn next(&self, slot: u32) -> u32 {
        let counter = self.counters.get((slot % 64) as usize);
        counter.map_or(0, |counter| counter.fetch_add(1, Relaxed))
    }

    fn add(&self, key: &str, delta: i32, ttl: Option<Duration>) -> Result<f64, Exhausted> {
        let make = |now: Instant| (Value::Number(0.0), ends(now, ttl));
        self.with(key, 8, make, |value, _| {
            let before = if let Value::Number(number) = value { *number } else { 0.0 };
            let sum = before + f64::from(delta);
            *value = Value::Number(sum);
            sum
        })
    }

    fn take(
        &self,
        key: &str,
        cost: u32,
        limit: u32,
        window: Duration,
    ) -> Result<Duration, Exhausted> {
        let _counting = self.counting();
        self.take_counting(key, cost, limit, window)
    }

    fn draw(
        &self,
        key: &str,
        cost: u32,
        per_minute: u32,
        burst: u32,
    ) -> Result<Duration, Exhausted> {
        let _counting = self.counting();
        self.draw_counting(key, cost, per_minute, burst)
    }

    fn take_all(&self, charges: &[Charge]) -> Result<Option<(usize, Duration)>, Exhausted> {
        self.charge_all(charges)
    }

    fn get(&self, key: &str) -> Option<String> {
        let record = self.keys.get(key)?;
        if record.over(Instant::now()) { None } else { text_of(&record.value) }
    }

    fn set(&self, key: &str, value: &str, ttl: Option<Duration>) -> Result<(), Exhausted> {
        self.put(key, value, ttl, |_| true).map(|_| ())
    }

    fn compare_and_set(
        &self,
        key: &str,
        old: Option<&str>,
        new: &str,
        ttl: Option<Duration>,
    ) -> Result<bool, Exhausted> {
        self.put(key, new, ttl, |present| match (present, old) {
            (None, None) => true,
            (Some(value), Some(old)) => text_of(value).as_deref() == Some(old),
            _ => false,
        })
    }

    fn remove(&self, key: &str) {
        if let Some((_, record)) = self.keys.remove(key) {
            self.release(record.size);
        }
    }
}
