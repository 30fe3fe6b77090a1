//! A sliding window: at most so much within any window that ends now.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Slices of a window. Each charge counts until its slice has left the window, so the window is never too generous, and
/// at most a slice too strict.
const SLICES: u32 = 32;

/// What was taken, in slices of time.
#[derive(Clone, Debug, Default)]
pub struct Window {
    taken: VecDeque<(Instant, u32)>,
    window: Duration,
}

impl Window {
    /// Takes, or says how long to wait until as much fits: at least a millisecond. More than the limit never fits.
    pub fn take(&mut self, now: Instant, cost: u32, limit: u32, window: Duration) -> Duration {
        let wait = self.wait(now, cost, limit, window);
        if wait.is_zero() {
            self.charge(now, cost);
        }
        wait
    }

    /// How long to wait until so much fits; zero = now. Takes nothing.
    pub fn wait(&mut self, now: Instant, cost: u32, limit: u32, window: Duration) -> Duration {
        let window = window.max(Duration::from_millis(1));
        self.window = window;
        self.forget(now);
        if cost > limit {
            return window;
        }
        let used: u64 = self.taken.iter().map(|(_, cost)| u64::from(*cost)).sum();
        let mut over = (used + u64::from(cost)).saturating_sub(u64::from(limit));
        if over == 0 {
            return Duration::ZERO;
        }
        for (at, cost) in &self.taken {
            over = over.saturating_sub(u64::from(*cost));
            if over == 0 {
                let free = *at + window;
                return free.saturating_duration_since(now).max(Duration::from_millis(1));
            }
        }
        window
    }

    /// Gives back what was taken last, before anything else was.
    pub fn give_back(&mut self, cost: u32) {
        let Some((_, sum)) = self.taken.back_mut() else { return };
        *sum = sum.saturating_sub(cost);
        if *sum == 0 {
            self.taken.pop_back();
        }
    }

    /// Whether everything in it has passed.
    pub fn empty(&self, now: Instant) -> bool {
        self.taken.back().is_none_or(|(at, _)| now.saturating_duration_since(*at) >= self.window)
    }

    fn forget(&mut self, now: Instant) {
        while let Some((at, _)) = self.taken.front() {
            if now.saturating_duration_since(*at) < self.window {
                return;
            }
            self.taken.pop_front();
        }
    }

    /// Charges of one slice share a record, under the time of the latest, so that none leaves early.
    fn charge(&mut self, now: Instant, cost: u32) {
        if cost == 0 {
            return;
        }
        let slice = self.window / SLICES;
        let first = self.taken.len().checked_sub(2).and_then(|place| self.taken.get(place));
        let open_since = first.map(|(at, _)| *at);
        if let Some((at, sum)) = self.taken.back_mut() {
            // the last record may grow while it lies within a slice of the one before
            let room = open_since.is_some_and(|since| now.saturating_duration_since(since) < slice);
            if room || now == *at {
                *at = now;
                *sum = sum.saturating_add(cost);
                return;
            }
        }
        self.taken.push_back((now, cost));
    }
}
