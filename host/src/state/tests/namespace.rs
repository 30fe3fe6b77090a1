//! Namespaces: quotas hold, keys end, and nothing is lost or counted twice under concurrency.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::pipeline::port::{Exhausted, LocalState as _};
use crate::state::{Memory, Namespace, Quota};

fn small() -> Namespace {
    Namespace::new(Quota { keys: 4, bytes: 2_000 })
}

#[test]
fn texts_numbers_and_windows_live_under_one_name_space() {
    let state = small();
    assert_eq!(state.get("a"), None);
    state.set("a", "text", None).unwrap();
    assert_eq!(state.get("a").as_deref(), Some("text"));
    assert_eq!(state.add("a", 3, None).unwrap().to_string(), "3", "a text counts as nothing");
    assert_eq!(state.add("a", -5, None).unwrap().to_string(), "-2");
    assert_eq!(state.get("a").as_deref(), Some("-2"));
    state.remove("a");
    assert_eq!(state.get("a"), None);
    assert!(state.is_empty());
}

#[test]
fn a_key_ends_and_leaves_its_room() {
    let state = small();
    for name in ["a", "b", "c", "d"] {
        state.set(name, "x", Some(Duration::ZERO)).unwrap();
    }
    assert_eq!(state.get("a"), None);
    state.set("e", "x", None).unwrap();
    assert_eq!(state.len(), 1, "what is over makes room");
}

#[test]
fn the_quota_holds_for_keys_and_bytes() {
    let state = small();
    assert_eq!(state.set("big", &"x".repeat(3_000), None), Err(Exhausted));
    for name in ["a", "b", "c", "d"] {
        state.set(name, "x", None).unwrap();
    }
    assert_eq!(state.set("e", "x", None), Err(Exhausted));
    assert_eq!(state.add("e", 1, None), Err(Exhausted));
    assert!(state.take("e", 1, 1, Duration::from_secs(1)).is_err());
    assert_eq!(state.get("e"), None);
    state.set("a", "y", None).unwrap();
    assert_eq!(state.set("a", &"x".repeat(3_000), None), Err(Exhausted));
    assert_eq!(state.get("a").as_deref(), Some("y"), "a text that does not fit changes nothing");
    state.remove("a");
    state.set("e", "x", None).unwrap();
}

#[test]
fn compare_and_set_lets_one_of_many_through() {
    let state = Arc::new(Namespace::new(Quota::default()));
    let threads = (0..8).map(|number| {
        let state = state.clone();
        thread::spawn(move || state.compare_and_set("k", None, &number.to_string(), None).unwrap())
    });
    let threads: Vec<_> = threads.collect();
    let won = threads.into_iter().map(|thread| thread.join().unwrap());
    assert_eq!(won.filter(|won| *won).count(), 1);
    let present = state.get("k").unwrap();
    assert!(state.compare_and_set("k", Some(&present), "new", None).unwrap());
    assert!(!state.compare_and_set("k", Some(&present), "newer", None).unwrap());
}

#[test]
fn counting_is_exact_under_concurrency() {
    let state = Arc::new(Namespace::new(Quota::default()));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let state = state.clone();
            thread::spawn(move || {
                let long = Duration::from_mins(10);
                let taken = (0..500).filter(|_| state.take("w", 1, 700, long).unwrap().is_zero());
                let taken = taken.count();
                let drawn = (0..500).filter(|_| state.draw("b", 1, 1, 300).unwrap().is_zero());
                for _ in 0..500 {
                    state.add("n", 1, None).unwrap();
                    state.next(7);
                }
                (taken, drawn.count())
            })
        })
        .collect();
    let counts: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(counts.iter().map(|(taken, _)| taken).sum::<usize>(), 700);
    assert_eq!(counts.iter().map(|(_, drawn)| drawn).sum::<usize>(), 300);
    assert_eq!(state.get("n").as_deref(), Some("2000"));
    assert_eq!(state.next(7 + 64), 2_000, "slots are counted modulo 64");
}

#[test]
fn namespaces_are_apart_and_stay() {
    let memory = Memory::new(Quota::default());
    memory.namespace("hub", "policy").set("k", "v", None).unwrap();
    assert_eq!(memory.namespace("hub", "policy").get("k").as_deref(), Some("v"));
    assert_eq!(memory.namespace("hub", "other").get("k"), None);
    assert_eq!(memory.namespace("hubp", "olicy").get("k"), None);
}

#[derive(Clone, Debug)]
enum Act {
    Set(u8, usize),
    Add(u8),
    Take(u8),
    Remove(u8),
    Swap(u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0_u8..8, 0_usize..900).prop_map(|(key, size)| Act::Set(key, size)),
        (0_u8..8).prop_map(Act::Add),
        (0_u8..8).prop_map(Act::Take),
        (0_u8..8).prop_map(Act::Remove),
        (0_u8..8).prop_map(Act::Swap),
    ]
}

proptest! {
    #[test]
    fn what_is_booked_is_what_is_held(acts in prop::collection::vec(act(), 1..100)) {
        let state = Namespace::new(Quota { keys: 5, bytes: 4_000 });
        for act in acts {
            let full = match act {
                Act::Set(key, size) => state.set(&key.to_string(), &"x".repeat(size), None).is_err(),
                Act::Add(key) => state.add(&key.to_string(), 1, None).is_err(),
                Act::Take(key) => state.take(&key.to_string(), 1, 9, Duration::from_secs(9)).is_err(),
                Act::Swap(key) => state.compare_and_set(&key.to_string(), None, "y", None).is_err(),
                Act::Remove(key) => {
                    state.remove(&key.to_string());
                    false
                }
            };
            prop_assert!(state.len() <= 5);
            prop_assert!(!full || !state.is_empty());
        }
        for key in 0..8_u8 {
            state.remove(&key.to_string());
        }
        state.sweep(Instant::now());
        prop_assert!(state.is_empty());
        // everything is free again
        for key in 0..5_u8 {
            prop_assert!(state.set(&key.to_string(), &"x".repeat(600), None).is_ok());
        }
    }
}
