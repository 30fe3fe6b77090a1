//! Costs, printed: `cargo test --release -p plugway -- --ignored --nocapture costs`.

use std::time::{Duration, Instant};

use super::stage::{call, policy, runtime_with, spec};
use crate::plugin::bundled;

#[tokio::test]
#[ignore = "prints costs, proves nothing"]
async fn costs() {
    let folder = std::env::temp_dir().join(format!("plugway-costs-{}", std::process::id()));
    for round in ["first compile", "from cache"] {
        let start = Instant::now();
        let runtime = runtime_with(Some(folder.clone()));
        let engine = start.elapsed();
        let slot = runtime.load(bundled::router("router")).await.unwrap();
        let loaded = start.elapsed();
        slot.router(&"hub".into(), None).await.unwrap();
        println!("{round}: engine {engine:?}, loaded {loaded:?}, seated {:?}", start.elapsed());
    }
    let runtime = runtime_with(Some(folder.clone()));
    let (_slot, policy) = policy(&runtime, spec("traps_on_argument")).await;
    let call = call("ann", r#"{"a":1}"#);
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..1_000 {
            policy.admit(call.clone()).await.unwrap();
        }
        best = best.min(start.elapsed() / 1_000);
    }
    println!("admit with one argument, warm: {best:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}
