//! When a plugin that keeps failing is put aside: a pure state machine, time passed in.
//!
//! **One caller alone can never put a plugin aside**: it takes more than five failures seen by at least three callers
//! within ten seconds, or an instance that cannot be made. All whom nobody identified are one caller. A trial that fails after
//! a pause bars only the caller that made it, until three callers have seen a trial fail.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Failures that are looked at together.
const WINDOW: Duration = Duration::from_secs(10);
/// More failures than this.
const FAILURES: usize = 5;
/// At least so many callers.
const CALLERS: usize = 3;
/// First pause; doubles each time.
const FIRST: Duration = Duration::from_secs(1);
/// Longest pause.
const LONGEST: Duration = Duration::from_mins(1);
/// Failures that are remembered.
const MEMORY: usize = 64;

/// A caller, as a number that tells callers apart.
pub type Who = u64;

/// Whether a plugin may be asked.
#[derive(Debug, Default)]
pub struct Breaker {
    state: State,
    failures: VecDeque<(Instant, Who)>,
    /// How often the pause doubled.
    step: u32,
    closed_at: Option<Instant>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Closed,
    Open {
        until: Instant,
    },
    /// The pause is over: one call at a time tries.
    Trying {
        running: bool,
        barred: Vec<(Who, Instant)>,
    },
}

/// Leave to ask the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// As usual.
    Normal,
    /// This call decides whether the plugin comes back; its end must be told.
    Trial,
}

impl Breaker {
    /// Whether a caller may ask now; the error says how long to wait.
    pub fn ask(&mut self, now: Instant, who: Who) -> Result<Leave, Duration> {
        if let State::Open { until } = self.state {
            if now < until {
                return Err(until - now);
            }
            self.state = State::Trying { running: false, barred: Vec::new() };
        }
        let pause = self.pause();
        match &mut self.state {
            State::Closed | State::Open { .. } => Ok(Leave::Normal),
            State::Trying { running: true, .. } => Err(FIRST),
            State::Trying { running, barred } => {
                barred.retain(|(_, since)| now.saturating_duration_since(*since) < pause);
                if let Some((_, since)) = barred.iter().find(|(barred, _)| *barred == who) {
                    return Err((*since + pause).saturating_duration_since(now));
                }
                *running = true;
                Ok(Leave::Trial)
            }
        }
    }

    /// The call gave a decision.
    pub fn succeeded(&mut self, now: Instant, leave: Leave) {
        if leave == Leave::Trial {
            self.state = State::Closed;
            self.failures.clear();
            self.closed_at = Some(now);
        }
    }

    /// The call failed.
    pub fn failed(&mut self, now: Instant, leave: Leave, who: Who) {
        match (&mut self.state, leave) {
            (State::Trying { running, barred }, Leave::Trial) => {
                *running = false;
                barred.push((who, now));
                if barred.len() >= CALLERS {
                    self.open(now);
                }
            }
            (State::Closed, _) => {
                while self.failures.len() >= MEMORY {
                    self.failures.pop_front();
                }
                self.failures.push_back((now, who));
                self.failures.retain(|(at, _)| now.saturating_duration_since(*at) <= WINDOW);
                if self.failures.len() > FAILURES && self.callers() >= CALLERS {
                    self.open(now);
                }
            }
            _ => {}
        }
    }

    /// No instance could be made.
    pub fn broken(&mut self, now: Instant) {
        if !matches!(self.state, State::Open { .. }) {
            self.open(now);
        }
    }

    /// A trial ended without an answer: the call was cancelled.
    pub fn abandoned(&mut self, leave: Leave) {
        if let (State::Trying { running, .. }, Leave::Trial) = (&mut self.state, leave) {
            *running = false;
        }
    }

    /// Whether every call is let through without asking.
    pub fn closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// A new generation starts with a clean slate.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    fn open(&mut self, now: Instant) {
        let calm = self.closed_at.is_some_and(|at| now.saturating_duration_since(at) > LONGEST);
        if calm {
            self.step = 0;
        }
        let until = now + self.pause();
        self.step = self.step.saturating_add(1);
        self.state = State::Open { until };
        self.failures.clear();
    }

    fn pause(&self) -> Duration {
        FIRST.saturating_mul(1 << self.step.min(6)).min(LONGEST)
    }

    fn callers(&self) -> usize {
        let mut seen: Vec<Who> = Vec::with_capacity(CALLERS);
        for (_, who) in &self.failures {
            if !seen.contains(who) {
                seen.push(*who);
                if seen.len() >= CALLERS {
                    break;
                }
            }
        }
        seen.len()
    }
}
