//! A component is replaced while it serves; `tests/tests/plugins_swap.rs` replaces one fifty times under load.

use super::stage::{bytes_of, call, policy, runtime, spec};
use crate::pipeline::port::Admission;
use crate::plugin::artifact::{Artifact, Bytes};

fn artifact(name: &str) -> Artifact {
    Artifact::new(Bytes::Owned(bytes_of(name)), None, None).unwrap()
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
