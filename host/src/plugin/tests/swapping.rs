//! A component is replaced while it serves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::stage::{bytes_of, call, policy, runtime, spec};
use crate::pipeline::port::Admission;
use crate::plugin::artifact::{Artifact, Bytes};

fn artifact(name: &str) -> Artifact {
    Artifact::new(Bytes::Owned(bytes_of(name)), None, None).unwrap()
}

fn resident_kib() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test looks at its own memory")]
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_call_fails_while_components_are_replaced() {
    let runtime = runtime();
    let (slot, policy) = policy(&runtime, spec("traps_on_argument")).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (policy, stop) = (policy.clone(), stop.clone());
        callers.spawn(async move {
            let mut calls = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                policy.admit(call(&format!("c{number}"), "{}")).await.unwrap();
                calls += 1;
                tokio::task::yield_now().await;
            }
            calls
        });
    }
    let mut before = 0;
    for round in 0..12 {
        if round == 4 {
            before = resident_kib();
        }
        let name = if round % 2 == 0 { "admit_reject" } else { "traps_on_argument" };
        slot.replace(artifact(name)).await.unwrap();
    }
    let after = resident_kib();
    stop.store(true, Ordering::Relaxed);
    let calls: u64 = callers.join_all().await.into_iter().sum();
    println!("{calls} calls over 12 swaps, {before} -> {after} KiB");
    assert!(calls > 12);
    assert_eq!(slot.stats()[0].generation, 13);
    assert!(after < before + (32 << 10), "{before} -> {after} KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_component_changes_nothing() {
    let runtime = runtime();
    let (slot, policy) = policy(&runtime, spec("admit_reject")).await;
    let (digest, generation) = (slot.digest(), policy.generation());
    for name in ["bad_config", "two_kinds", "route_dynamic", "wrong_version"] {
        slot.replace(artifact(name)).await.unwrap_err();
        let decision = policy.admit(call("ann", "{}")).await.unwrap();
        assert!(matches!(decision, Admission::Reject(_)), "{name}");
    }
    assert_eq!((slot.digest(), policy.generation()), (digest, generation));
}
