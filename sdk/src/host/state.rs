//! What outlives an instance: shared by all instances of a plugin entry in a connector.
//!
//! Anything here can be forgotten (time to live, quota, restart): keep nothing that cannot be learned again.

pub use crate::raw::plugway::plugin::state::Charge;

imports! { state {
    /// Round-robin: one of 64 counters, local to the process.
    fn next(slot: u32) -> u32;
    /// Adds to a number and gives the sum.
    fn add(key: &str, delta: i32, ttl_ms: Option<u32>) -> f64;
    /// The text under the key.
    fn get(key: &str) -> Option<String>;
    /// False when the quota is full.
    fn set(key: &str, value: &str, ttl_ms: Option<u32>) -> bool;
    /// Stores only where the present text equals `old`.
    fn compare_and_set(key: &str, old: Option<&str>, new: &str, ttl_ms: Option<u32>) -> bool;
    /// Forgets the key.
    fn remove(key: &str);
} }

/// Sliding window of `limit` per `window_ms`; when it is full, how many milliseconds to wait.
pub fn take(key: &str, cost: u32, limit: u32, window_ms: u32) -> Result<(), u32> {
    wait(imported::take(key, cost, limit, window_ms))
}

/// Token bucket of `burst`, refilled at `per_minute`; when it is empty, how many milliseconds to wait.
pub fn draw(key: &str, cost: u32, per_minute: u32, burst: u32) -> Result<(), u32> {
    wait(imported::draw(key, cost, per_minute, burst))
}

/// Several charges, of different keys, as one: all are taken, or none is; then the place of the charge that has to wait longest, and for
/// how many milliseconds.
pub fn take_all(charges: &[Charge]) -> Result<(), (usize, u32)> {
    match imported::take_all(charges) {
        None => Ok(()),
        Some((place, wait)) => Err((usize::try_from(place).unwrap_or(usize::MAX), wait)),
    }
}

fn wait(milliseconds: u32) -> Result<(), u32> {
    if milliseconds == 0 { Ok(()) } else { Err(milliseconds) }
}
