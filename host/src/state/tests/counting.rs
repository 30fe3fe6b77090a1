//! Windows and buckets are never too generous, and who waits as told is let through.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::state::bucket::Bucket;
use crate::state::window::Window;

proptest! {
    #[test]
    fn a_window_never_holds_more_than_its_limit(
        steps in prop::collection::vec((0_u64..400, 0_u32..6), 1..200),
        limit in 1_u32..12,
    ) {
        let window = Duration::from_secs(1);
        let mut own = Window::default();
        let mut now = Instant::now();
        let mut taken: Vec<(Instant, u32)> = Vec::new();
        for (pause, cost) in steps {
            now += Duration::from_millis(pause);
            if own.take(now, cost, limit, window).is_zero() {
                taken.push((now, cost));
            }
            let inside: u32 = taken
                .iter()
                .filter(|(at, _)| now.duration_since(*at) < window)
                .map(|(_, cost)| *cost)
                .sum();
            prop_assert!(inside <= limit, "{inside} > {limit}");
        }
    }

    #[test]
    fn who_waits_as_a_window_says_is_let_through(
        steps in prop::collection::vec((0_u64..300, 1_u32..4), 1..100),
        limit in 4_u32..12,
    ) {
        let window = Duration::from_secs(1);
        let mut own = Window::default();
        let mut now = Instant::now();
        for (pause, cost) in steps {
            now += Duration::from_millis(pause);
            let wait = own.take(now, cost, limit, window);
            if !wait.is_zero() {
                prop_assert!(wait >= Duration::from_millis(1) && wait <= window);
                now += wait;
                prop_assert!(own.take(now, cost, limit, window).is_zero());
            }
        }
    }

    #[test]
    fn a_bucket_gives_at_most_its_rate_and_burst(
        steps in prop::collection::vec((0_u64..2_000, 0_u32..5), 1..200),
        rate in 1_u32..600,
        burst in 1_u32..20,
    ) {
        let start = Instant::now();
        let mut now = start;
        let mut bucket = Bucket::full(start, burst);
        let mut drawn = 0.0;
        for (pause, cost) in steps {
            now += Duration::from_millis(pause);
            let wait = bucket.draw(now, cost, rate, burst);
            if wait.is_zero() {
                drawn += f64::from(cost);
            } else if cost <= burst {
                prop_assert!(bucket.clone().draw(now + wait, cost, rate, burst).is_zero());
            }
            let earned = now.duration_since(start).as_secs_f64() * f64::from(rate) / 60.0;
            prop_assert!(drawn <= f64::from(burst) + earned + 1e-6);
        }
    }
}

#[test]
fn a_window_keeps_few_records_of_many_charges() {
    let window = Duration::from_secs(1);
    let mut own = Window::default();
    let start = Instant::now();
    for step in 0..10_000 {
        let now = start + Duration::from_micros(step * 100);
        assert!(own.take(now, 1, 100_000, window).is_zero());
    }
    assert!(format!("{own:?}").matches("Instant").count() < 80, "records of one slice are merged");
}

#[test]
fn a_new_bucket_that_is_asked_too_much_charges_nothing() {
    let now = Instant::now();
    let mut bucket = Bucket::full(now, 3);
    assert!(!bucket.draw(now, 4, 60, 3).is_zero());
    assert!(bucket.draw(now, 3, 60, 3).is_zero());
    assert!(bucket.is_full(now + Duration::from_secs(3), 60, 3));
}
