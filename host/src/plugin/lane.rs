//! Where the hooks of a plugin run: on the event loop, or on blocking threads.
//!
//! Plugins that the binary carries start on the loop. Others earn it: when 99 of 100 calls of a window were fast. A
//! window that was not, or a timeout, takes them off again.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use super::limits::{LANE_WINDOW, LOOP_MAX};

/// Where a plugin runs now, and the calls of the present window.
#[derive(Debug)]
pub struct Lane {
    on_loop: AtomicBool,
    seen: AtomicU32,
    slow: AtomicU32,
}

impl Lane {
    /// A lane that starts on the loop, or off it.
    pub fn new(on_loop: bool) -> Self {
        Self { on_loop: AtomicBool::new(on_loop), seen: AtomicU32::new(0), slow: AtomicU32::new(0) }
    }

    /// Whether calls run on the event loop.
    pub fn on_loop(&self) -> bool {
        self.on_loop.load(Relaxed)
    }

    /// A call of a hot hook took so long.
    pub fn took(&self, time: Duration) {
        if time >= LOOP_MAX {
            self.slow.fetch_add(1, Relaxed);
        }
        let seen = self.seen.fetch_add(1, Relaxed) + 1;
        if seen >= LANE_WINDOW {
            let slow = self.slow.swap(0, Relaxed);
            self.seen.store(0, Relaxed);
            self.on_loop.store(slow.saturating_mul(100) < seen, Relaxed);
        }
    }

    /// A call ran out of time.
    pub fn timed_out(&self) {
        self.on_loop.store(false, Relaxed);
        self.seen.store(0, Relaxed);
        self.slow.store(0, Relaxed);
    }
}
