//! Refusals that anybody can bring about are told one by one as long as they are few, and counted beyond that: nobody makes plugway write much
//! by asking for nothing.

use std::time::{Duration, Instant};

/// Refusals that are told one by one in each [`WINDOW`].
pub(super) const TOLD: u32 = 20;
/// The time in which they are counted.
pub(super) const WINDOW: Duration = Duration::from_secs(1);

/// Counts refusals.
#[derive(Debug)]
pub(super) struct Flood {
    began: Instant,
    told: u32,
    counted: u64,
}

/// What becomes of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is told; before it, how many of an earlier time were only counted.
    Told(u64),
    /// It is counted.
    Counted,
}

impl Flood {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, told: 0, counted: 0 }
    }

    /// One more.
    pub(super) fn turn(&mut self, now: Instant) -> Turn {
        if now.saturating_duration_since(self.began) >= WINDOW {
            (self.began, self.told) = (now, 0);
        }
        if self.told >= TOLD {
            self.counted += 1;
            return Turn::Counted;
        }
        self.told += 1;
        Turn::Told(std::mem::take(&mut self.counted))
    }

    /// How many were only counted, once the time in which they were is over.
    pub(super) fn due(&mut self, now: Instant) -> u64 {
        let over = now.saturating_duration_since(self.began) >= WINDOW;
        if over { std::mem::take(&mut self.counted) } else { 0 }
    }

    /// How many were only counted, whenever that was.
    pub(super) fn rest(&mut self) -> u64 {
        std::mem::take(&mut self.counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_the_count_is_told() {
        let start = Instant::now();
        let mut flood = Flood::new(start);
        let turns: Vec<Turn> = (0..TOLD + 5).map(|_| flood.turn(start)).collect();
        assert!(turns.iter().take(20).all(|turn| *turn == Turn::Told(0)));
        assert!(turns.iter().skip(20).all(|turn| *turn == Turn::Counted));
        assert_eq!(flood.due(start), 0, "its time is not over");
        assert_eq!(flood.turn(start + WINDOW), Turn::Told(5));
        assert_eq!(flood.turn(start + WINDOW), Turn::Told(0));
        assert_eq!((flood.due(start + WINDOW * 2), flood.rest()), (0, 0));
    }
}
