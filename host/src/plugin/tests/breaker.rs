//! The breaker, as a state machine under every order of events.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::plugin::breaker::{Breaker, Leave};
use crate::plugin::gates::{Gates, Turn};
use crate::plugin::limits::Hook;

fn open(breaker: &mut Breaker, now: Instant) {
    for step in 0..6 {
        let who = step % 3;
        let leave = breaker.ask(now, who).unwrap();
        breaker.failed(now, leave, who);
    }
    assert!(!breaker.closed());
}

#[test]
fn several_callers_open_it_and_one_success_closes_it() {
    let start = Instant::now();
    let mut breaker = Breaker::default();
    open(&mut breaker, start);
    assert_eq!(breaker.ask(start, 9), Err(Duration::from_secs(1)));
    let later = start + Duration::from_secs(1);
    assert_eq!(breaker.ask(later, 9), Ok(Leave::Trial));
    assert!(breaker.ask(later, 8).is_err(), "one trial at a time");
    breaker.succeeded(later, Leave::Trial);
    assert_eq!(breaker.ask(later, 8), Ok(Leave::Normal));
}

#[test]
fn five_failures_are_not_enough_and_old_ones_do_not_count() {
    let start = Instant::now();
    let mut breaker = Breaker::default();
    for who in 0..5 {
        breaker.failed(start, Leave::Normal, who);
    }
    assert!(breaker.closed());
    let later = start + Duration::from_secs(11);
    for who in 0..5 {
        breaker.failed(later, Leave::Normal, who);
    }
    assert!(breaker.closed());
    breaker.failed(later, Leave::Normal, 5);
    assert!(!breaker.closed());
}

#[test]
fn the_pause_doubles_up_to_a_minute() {
    let mut now = Instant::now();
    let mut breaker = Breaker::default();
    let mut pauses = Vec::new();
    for _ in 0..8 {
        breaker.broken(now);
        let pause = breaker.ask(now, 1).unwrap_err();
        pauses.push(pause.as_secs());
        now += pause;
        assert_eq!(breaker.ask(now, 1), Ok(Leave::Trial));
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn a_failed_trial_bars_its_caller_and_nobody_else() {
    let start = Instant::now();
    let mut breaker = Breaker::default();
    open(&mut breaker, start);
    let later = start + Duration::from_secs(1);
    assert_eq!(breaker.ask(later, 1), Ok(Leave::Trial));
    breaker.failed(later, Leave::Trial, 1);
    assert!(breaker.ask(later, 1).is_err());
    assert_eq!(breaker.ask(later, 2), Ok(Leave::Trial));
    breaker.abandoned(Leave::Trial);
    assert_eq!(breaker.ask(later, 3), Ok(Leave::Trial));
    breaker.succeeded(later, Leave::Trial);
    assert_eq!(breaker.ask(later, 1), Ok(Leave::Normal));
}

#[test]
fn answers_that_fail_do_not_keep_calls_from_being_routed() {
    let now = Instant::now();
    let gates = Gates::default();
    let mut turns = Vec::new();
    for who in [1, 2, 3, 1, 2, 3] {
        let (leave, _) = gates.ask(Hook::Answer, now, who);
        let failed = |breaker: &mut Breaker| breaker.failed(now, leave.unwrap(), who);
        turns.extend(gates.change(Hook::Answer, failed).1);
    }
    assert_eq!(turns, [Turn::Aside]);
    assert!(gates.aside() && gates.ask(Hook::Answer, now, 9).0.is_err());
    assert_eq!(gates.ask(Hook::Route, now, 1), (Ok(Leave::Normal), None));
    gates.change(Hook::Answer, Breaker::reset);
    assert!(!gates.aside() && gates.ask(Hook::Answer, now, 9).0.is_ok());
}

proptest! {
    #[test]
    fn one_caller_alone_never_shuts_others_out(
        steps in prop::collection::vec((0_u64..5_000, any::<bool>()), 1..300),
        callers in 1_u64..3,
    ) {
        let mut now = Instant::now();
        let mut breaker = Breaker::default();
        for (place, (pause, fails)) in steps.into_iter().enumerate() {
            now += Duration::from_millis(pause);
            let who = place as u64 % callers;
            let leave = breaker.ask(now, who);
            prop_assert_eq!(leave, Ok(Leave::Normal));
            if fails {
                breaker.failed(now, Leave::Normal, who);
            }
        }
    }

    #[test]
    fn it_always_comes_back_to_a_caller_that_succeeds(
        steps in prop::collection::vec((0_u64..3_000, 0_u64..6, 0_u8..4), 1..300),
    ) {
        let mut now = Instant::now();
        let mut breaker = Breaker::default();
        for (pause, who, end) in steps {
            now += Duration::from_millis(pause);
            if let Ok(leave) = breaker.ask(now, who) {
                match end {
                    0 => breaker.succeeded(now, leave),
                    1 => breaker.abandoned(leave),
                    2 => breaker.broken(now),
                    _ => breaker.failed(now, leave, who),
                }
            }
        }
        // after the longest pause a caller that failed nothing gets through
        let later = now + Duration::from_mins(2);
        let leave = breaker.ask(later, 99);
        prop_assert!(leave.is_ok());
        breaker.succeeded(later, Leave::Trial);
        prop_assert_eq!(breaker.ask(later, 1), Ok(Leave::Normal));
    }
}
