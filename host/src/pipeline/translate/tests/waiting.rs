//! How many calls may wait for input, and how long.

use std::time::Duration;

use super::modern::state;
use super::*;
use crate::pipeline::translate::limits::{OF_CALLER, OF_STRANGERS};

async fn stage() -> Stage {
    Stage::new(Revision::V2026_07_28, Revision::V2025_11_25).await
}

/// A call that waits: the state for its retry, and whether it is given up.
async fn suspended(stage: &Stage) -> (String, Held) {
    let held = Held::default();
    let (asked, _) = question("1", "roots/list", "{}");
    stage.server.answers(held.open(vec![asked]));
    (state(&stage.response(&call("7", "")).await), held)
}

fn retry(state: &str) -> String {
    call("8", &format!(r#","inputResponses":{{"roots-1":{{}}}},"requestState":"{state}""#))
}

#[tokio::test]
async fn a_call_that_nobody_comes_back_for_is_given_up() {
    let stage = stage().await.patient_for(Duration::from_millis(1));
    let connector = stage.connector.clone();
    let given_up = async {
        for _ in 0..3 {
            let (state, held) = suspended(&stage).await;
            while !held.is_dropped() {
                tokio::task::yield_now().await;
            }
            assert_eq!(stage.refusal(&retry(&state)).await, Code::InvalidParams);
        }
    };
    tokio::select! {
        () = connector.suspended.sweep() => panic!("it sweeps on"),
        () = given_up => {}
    }
}

#[tokio::test]
async fn nobody_comes_back_for_a_call_after_its_time() {
    let stage = stage().await.patient_for(Duration::ZERO);
    let (state, held) = suspended(&stage).await;
    assert!(!held.is_dropped(), "nobody has looked");
    assert_eq!(stage.refusal(&retry(&state)).await, Code::InvalidParams);
    assert!(held.is_dropped());
}

#[tokio::test]
async fn for_one_too_many_of_a_caller_the_oldest_is_given_up() {
    let mut stage = stage().await;
    let (_, others) = suspended(&stage).await;
    stage.caller = somebody("bob");
    let mut own = Vec::new();
    for _ in 0..=OF_CALLER {
        own.push(suspended(&stage).await);
    }
    assert_eq!(stage.connector.suspended.len(), OF_CALLER + 1);
    let given_up: Vec<bool> = own.iter().map(|(_, held)| held.is_dropped()).collect();
    assert!(given_up[0] && !given_up[1..].contains(&true), "{given_up:?}");
    assert!(!others.is_dropped());
    assert_eq!(stage.refusal(&retry(&own[0].0)).await, Code::InvalidParams);
    assert!(stage.send(&retry(&own[1].0)).await.is_ok());
}

#[tokio::test]
async fn strangers_do_not_end_each_others_calls_and_leave_room_for_others() {
    let mut stage = stage().await;
    stage.caller = Arc::new(Caller::anonymous("anonymous"));
    let (_, first) = suspended(&stage).await;
    for _ in 1..OF_STRANGERS {
        suspended(&stage).await;
    }
    let held = Held::default();
    let (asked, _) = question("1", "roots/list", "{}");
    stage.server.answers(held.open(vec![asked]));
    assert_eq!(stage.refusal(&call("7", "")).await, Code::Overloaded);
    assert!(held.is_dropped() && !first.is_dropped());
    stage.caller = somebody("ann");
    suspended(&stage).await;
}
