//! Several charges as one.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::pipeline::port::{Charge, Exhausted, LocalState as _};
use crate::state::{Namespace, Quota};

const LONG: Duration = Duration::from_mins(10);

fn window(key: &str, cost: u32, limit: u32) -> Charge {
    Charge { key: key.to_owned(), cost, limit, window: LONG, burst: None }
}

fn bucket(key: &str, burst: u32) -> Charge {
    Charge { key: key.to_owned(), cost: 1, limit: 1, window: LONG, burst: Some(burst) }
}

/// How much of a window is left.
fn left(state: &Namespace, key: &str, limit: u32) -> u32 {
    let fits = |cost: &u32| state.take(key, *cost, limit, LONG).unwrap().is_zero();
    (1..=limit).rev().find(fits).unwrap_or(0)
}

#[test]
fn all_are_charged_or_none_is() {
    let state = Namespace::new(Quota::default());
    let both = [window("wide", 2, 9), bucket("narrow", 1)];
    assert_eq!(state.take_all(&both), Ok(None));
    for _ in 0..20 {
        let (place, wait) = state.take_all(&both).unwrap().unwrap();
        assert!(place == 1 && wait > Duration::from_secs(50), "{place} {wait:?}");
    }
    assert_eq!(left(&state, "wide", 9), 7);
}

#[test]
fn the_longest_wait_counts() {
    let state = Namespace::new(Quota::default());
    let all = [bucket("a", 1), window("b", 1, 1), bucket("c", 5)];
    assert_eq!(state.take_all(&all), Ok(None));
    assert_eq!(state.take_all(&all).unwrap().map(|(place, _)| place), Some(1));
}

#[test]
fn what_never_fits_makes_no_key() {
    let state = Namespace::new(Quota::default());
    let refused = state.take_all(&[window("a", 1, 5), window("b", 6, 5)]).unwrap();
    assert_eq!(refused, Some((1, LONG)));
    assert!(state.is_empty(), "{} keys", state.len());
}

#[test]
fn what_was_charged_is_given_back_where_there_is_no_room_for_a_key() {
    let state = Namespace::new(Quota { keys: 2, bytes: 1 << 20 });
    state.set("held", "x", None).unwrap();
    assert_eq!(state.take_all(&[window("a", 3, 5)]), Ok(None));
    let both = [window("a", 1, 5), window("b", 1, 5)];
    assert_eq!(state.take_all(&both), Err(Exhausted));
    assert_eq!(left(&state, "a", 5), 2);
}

#[test]
fn nobody_counts_in_between() {
    let state = Arc::new(Namespace::new(Quota::default()));
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let state = state.clone();
            thread::spawn(move || {
                let own = format!("own-{number}");
                let alone = (0..50).filter(|_| state.take("all", 1, 700, LONG).unwrap().is_zero());
                let alone = alone.count();
                let both = || state.take_all(&[window("all", 1, 700), window(&own, 1, 200)]);
                let taken = (0..400).filter(|_| both().unwrap().is_none()).count();
                (alone, taken, left(&state, &own, 200))
            })
        })
        .collect();
    let counts: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let sum: usize = counts.iter().map(|(alone, taken, _)| alone + taken).sum();
    assert_eq!(sum, 700, "{counts:?}");
    for (_, taken, left) in counts {
        assert_eq!(taken + left as usize, 200, "a refused call was charged");
    }
}
