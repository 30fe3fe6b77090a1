//! A policy that looks at what servers send toward clients.

use std::sync::Arc;

use super::stage::{message, policy, runtime, spec};
use crate::fault::Code;
use crate::pipeline::port::{Inbound, Policy};
use crate::plugin::{OnError, PluginSpec};

/// What is done with each method.
const RULES: &str = r#"{
    "elicitation/create": "tell",
    "roots/list": {"reject": "The folders are nobody's business."},
    "sampling/createMessage": {"replace": " {\"messages\":[],\"n\":1.0}"},
    "x/list": {"replace": "[1]"}, "x/broken": {"replace": "{\"a\":"},
    "x/fail": "fail", "x/trap": "trap", "x/loop": "loop"
}"#;

fn judging() -> PluginSpec {
    let mut spec = spec("inbound_by_method");
    spec.config = RULES.into();
    spec
}

async fn code(policy: &Arc<dyn Policy>, method: &str) -> Option<Code> {
    policy.inbound(message(method, "{}")).await.err().map(|fault| fault.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_passes_replaces_and_refuses() {
    let runtime = runtime();
    let (_slot, policy) = policy(&runtime, judging()).await;
    let hooks = policy.hooks();
    assert!(hooks.inbound && !hooks.admission && !hooks.reviewing && !hooks.visibility);
    let decide = async |method| policy.inbound(message(method, "{}")).await.unwrap();
    assert_eq!(decide("notifications/message").await, Inbound::Pass);
    let replaced = Inbound::Replace(r#" {"messages":[],"n":1.0}"#.to_owned());
    assert_eq!(decide("sampling/createMessage").await, replaced);
    let Inbound::Reject(rejection) = decide("roots/list").await else { panic!("no refusal") };
    assert_eq!(rejection.message, "The folders are nobody's business.");
    let stats = runtime.stats();
    let counted = stats[0].hooks.iter().find(|hook| hook.hook == "inbound").unwrap();
    assert_eq!(counted.calls, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_reads_the_message() {
    let runtime = runtime();
    let (_slot, policy) = policy(&runtime, judging()).await;
    let params = r#"{ "message":"Who?", "n":12345678901234567890 }"#;
    let told = policy.inbound(message("elicitation/create", params)).await.unwrap();
    let Inbound::Replace(told) = told else { panic!("nothing told") };
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let wanted = serde_json::json!({
        "from_upstream": true, "method": "elicitation/create", "name": "", "target": ["one", ""],
        "session": "s", "caller": "ann", "arguments_len": params.len(), "arguments_json": params,
        "message": "\"Who?\"", "era": "legacy",
    });
    assert_eq!(told, wanted);
    let twice = message("elicitation/create", r#"{"a":{"b":1,"b":2}}"#);
    let fault = policy.inbound(twice).await.unwrap_err();
    assert_eq!(fault.code(), Code::InvalidParams, "what two readers read differently");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_refused_where_a_policy_fails_unless_the_operator_says_otherwise() {
    let failures = [
        ("x/fail", Code::PluginError),
        ("x/trap", Code::PluginTrap),
        ("x/loop", Code::PluginTimeout),
        ("x/list", Code::PluginInvalid),
        ("x/broken", Code::PluginInvalid),
    ];
    let runtime = runtime();
    let (_strict, strict) = policy(&runtime, judging()).await;
    let mut open = judging();
    open.on_error = OnError::Allow;
    let (_open, open) = policy(&runtime, open).await;
    for (method, wanted) in failures {
        assert_eq!(code(&strict, method).await, Some(wanted), "{method}");
        assert_eq!(code(&open, method).await, None, "{method}");
    }
}
