//! State that outlives plugin instances.

use std::time::Duration;

/// A quota is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state of this plugin is full")]
pub struct Exhausted;

/// One charge of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Where it is counted.
    pub key: String,
    /// How much is taken.
    pub cost: u32,
    /// So much within the window; of a bucket, so much a minute.
    pub limit: u32,
    /// How long the window is; means nothing for a bucket.
    pub window: Duration,
    /// The size of the bucket; none = a window.
    pub burst: Option<u32>,
}

/// State of one plugin entry in one connector, held in this process. Every key and value is bounded by quotas.
pub trait LocalState: Send + Sync {
    /// Adds one to one of 64 counters and gives the value before; wraps.
    fn next(&self, slot: u32) -> u32;
    /// Adds to a number and gives the sum; a new one starts at 0 and ends after `ttl`.
    fn add(&self, key: &str, delta: i32, ttl: Option<Duration>) -> Result<f64, Exhausted>;
    /// Sliding window: zero = taken, else how long until `cost` fits again (at least a millisecond).
    fn take(
        &self,
        key: &str,
        cost: u32,
        limit: u32,
        window: Duration,
    ) -> Result<Duration, Exhausted>;
    /// Token bucket: the same answer.
    fn draw(
        &self,
        key: &str,
        cost: u32,
        per_minute: u32,
        burst: u32,
    ) -> Result<Duration, Exhausted>;
    /// Several charges of different keys as one: none = all are taken; else none is, and this is the place of the one that
    /// has to wait longest, and how long (at least a millisecond).
    fn take_all(&self, charges: &[Charge]) -> Result<Option<(usize, Duration)>, Exhausted>;
    /// The value of a key.
    fn get(&self, key: &str) -> Option<String>;
    /// Sets a value; an error when the quota is full.
    fn set(&self, key: &str, value: &str, ttl: Option<Duration>) -> Result<(), Exhausted>;
    /// Sets a value if the present one is `old`; says whether it did.
    fn compare_and_set(
        &self,
        key: &str,
        old: Option<&str>,
        new: &str,
        ttl: Option<Duration>,
    ) -> Result<bool, Exhausted>;
    /// Forgets a key.
    fn remove(&self, key: &str);
}
