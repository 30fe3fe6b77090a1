//! A token bucket: refilled at a steady rate, never above its size.

use std::time::{Duration, Instant};

/// A bucket; new ones are full.
#[derive(Clone, Debug)]
pub struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    /// A full bucket.
    pub fn full(now: Instant, burst: u32) -> Self {
        Self { tokens: f64::from(burst), at: now }
    }

    /// Draws, or says how long to wait until as much is there: at least a millisecond. More than the burst never is.
    pub fn draw(&mut self, now: Instant, cost: u32, per_minute: u32, burst: u32) -> Duration {
        let wait = self.wait(now, cost, per_minute, burst);
        if wait.is_zero() {
            self.tokens -= f64::from(cost);
        }
        wait
    }

    /// Gives back what was drawn.
    pub fn give_back(&mut self, cost: u32, burst: u32) {
        self.tokens = (self.tokens + f64::from(cost)).min(f64::from(burst));
    }

    /// How long to wait until so much is there; zero = now. Draws nothing.
    pub fn wait(&mut self, now: Instant, cost: u32, per_minute: u32, burst: u32) -> Duration {
        self.refill(now, per_minute, burst);
        let cost = f64::from(cost);
        if cost <= self.tokens {
            return Duration::ZERO;
        }
        let rate = f64::from(per_minute) / 60.0;
        if rate <= 0.0 || cost > f64::from(burst) {
            return Duration::from_mins(1);
        }
        let wait = Duration::try_from_secs_f64((cost - self.tokens) / rate);
        // a little more, so that who waits exactly so long is let through
        (wait.unwrap_or(Duration::MAX)).saturating_add(Duration::from_millis(1))
    }

    /// Whether it is full again, so that forgetting it changes nothing.
    pub fn is_full(&self, now: Instant, per_minute: u32, burst: u32) -> bool {
        let mut copy = self.clone();
        copy.refill(now, per_minute, burst);
        copy.tokens >= f64::from(burst)
    }

    fn refill(&mut self, now: Instant, per_minute: u32, burst: u32) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.tokens = (self.tokens + passed * f64::from(per_minute) / 60.0).min(f64::from(burst));
        self.at = self.at.max(now);
    }
}
