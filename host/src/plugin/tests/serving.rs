//! Real guests: what they decide, and what becomes of those that misbehave.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::stage::{call, call_with, policy, runtime, spec};
use crate::fault::Code;
use crate::pipeline::port::{
    Admission, Asker, ConnectorView, Outcome, Policy, Promise, Reply, Requester, Review,
    UpstreamView,
};
use crate::plugin::{OnError, bundled};
use crate::protocol::Message;

async fn code(policy: &Arc<dyn Policy>, caller: &str, arguments: &str) -> Option<Code> {
    policy.admit(call(caller, arguments)).await.err().map(|fault| fault.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_reads_the_call_and_answers() {
    let runtime = runtime();
    let (_slot, policy) = policy(&runtime, spec("imports_echo")).await;
    let Admission::Answer(text) = policy.admit(call("ann", r#"{"a":[1,2]}"#)).await.unwrap() else {
        panic!("no answer")
    };
    for part in ["tools/call", "echo", "ann", r#""next":0"#] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let stats = runtime.stats();
    let admit = stats[0].hooks.iter().find(|hook| hook.hook == "admit").unwrap();
    assert_eq!((admit.calls, stats[0].live), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn misbehaviour_loses_an_instance_and_has_a_name() {
    let cases = [
        ("loop_forever", Code::PluginTimeout),
        ("panics", Code::PluginTrap),
        ("host_call_flood", Code::PluginTrap),
        ("memory_bomb", Code::PluginMemory),
        ("giant_result", Code::PluginInvalid),
        ("admit_fails", Code::PluginError),
    ];
    let runtime = runtime();
    for (name, wanted) in cases {
        let mut spec = spec(name);
        if matches!(name, "memory_bomb" | "giant_result" | "host_call_flood") {
            // else the deadline comes first
            spec.limits.time = Duration::from_secs(5);
        }
        let (slot, policy) = policy(&runtime, spec).await;
        let start = Instant::now();
        for _ in 0..2 {
            assert_eq!(code(&policy, "ann", "{}").await, Some(wanted), "{name}");
        }
        let stats = slot.stats();
        let admit = stats[0].hooks.iter().find(|hook| hook.hook == "admit").unwrap();
        assert_eq!(admit.errors.iter().map(|(_, count)| count).sum::<u64>(), 2, "{name}");
        println!("{name}: {:?}, {:?}", start.elapsed(), admit.errors);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_lines_is_cut_and_counted() {
    let runtime = runtime();
    let mut spec = spec("log_flood");
    spec.limits.time = Duration::from_secs(2);
    let (slot, policy) = policy(&runtime, spec).await;
    assert_eq!(policy.admit(call("ann", "{}")).await.unwrap(), Admission::Pass);
    assert!(slot.stats()[0].log_dropped > 1_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_caller_cannot_put_a_plugin_aside() {
    let runtime = runtime();
    let (slot, policy) = policy(&runtime, spec("traps_on_argument")).await;
    for _ in 0..40 {
        assert_eq!(code(&policy, "eve", r#"{"boom":true}"#).await, Some(Code::PluginTrap));
        assert_eq!(code(&policy, "ann", "{}").await, None);
    }
    assert!(!slot.stats()[0].aside);
    for step in 0..6 {
        code(&policy, &format!("eve{step}"), r#"{"boom":true}"#).await;
    }
    assert!(slot.stats()[0].aside);
    let fault = policy.admit(call("ann", "{}")).await.unwrap_err();
    assert_eq!(fault.code(), Code::PluginAside);
    assert!(fault.wait().unwrap() <= Duration::from_secs(1));
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    assert_eq!(code(&policy, "ann", "{}").await, None);
    assert!(!slot.stats()[0].aside);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_error_allow_lets_pass_but_not_while_put_aside() {
    let runtime = runtime();
    let mut spec = spec("panics");
    spec.on_error = OnError::Allow;
    let (_slot, policy) = policy(&runtime, spec).await;
    assert!(policy.fails_open());
    for caller in ["a", "b", "c", "a", "b", "c"] {
        assert_eq!(policy.admit(call(caller, "{}")).await.unwrap(), Admission::Pass);
    }
    assert_eq!(code(&policy, "d", "{}").await, Some(Code::PluginAside));
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_are_ambiguous_are_the_clients_fault() {
    let runtime = runtime();
    let (slot, policy) = policy(&runtime, spec("traps_on_argument")).await;
    let wanted = Some(Code::InvalidParams);
    assert_eq!(code(&policy, "ann", r#"{"deep":{"a":1,"a":2}}"#).await, wanted);
    assert_eq!(slot.stats()[0].discarded, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_share_the_instances() {
    let runtime = runtime();
    let (slot, policy) = policy(&runtime, spec("fails_sometimes")).await;
    let calls = (0..300).map(|_| {
        let policy = policy.clone();
        async move { policy.admit(call("ann", "{}")).await.is_ok() }
    });
    let results = futures_util::future::join_all(calls).await;
    assert_eq!(results.iter().filter(|passed| !**passed).count(), 100);
    assert!(slot.stats()[0].live <= 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_reviewed() {
    let runtime = runtime();
    let mut spec = spec("review_replace");
    spec.config = r#"{"from":"hello","to":"goodbye"}"#.into();
    let (_slot, policy) = policy(&runtime, spec).await;
    assert!(policy.hooks().reviewing && !policy.hooks().admission);
    let body = Bytes::from_static(br#"{"content":[{"type":"text","text":"hello"}]}"#);
    let outcome = Outcome { body, is_error: false, latency_us: 5 };
    let review = policy.review(call("ann", "{}"), outcome).await.unwrap();
    assert!(matches!(&review, Review::Replace(text) if text.contains("goodbye")), "{review:?}");
}

#[derive(Debug)]
struct Slow;

impl Requester for Slow {
    fn request(
        &self,
        _asker: Asker,
        upstream: String,
        method: String,
        params: String,
    ) -> Promise<'_, Result<String, String>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Ok(format!(r#"{{"upstream":"{upstream}","method":"{method}","params":{params}}}"#))
        })
    }
}

#[tokio::test]
async fn a_router_asks_upstreams_and_waits_longer_than_it_may_compute() {
    let runtime = runtime();
    let mut spec = spec("answer_upstreams");
    spec.grants.upstreams = true;
    let slot = runtime.load(spec).await.unwrap();
    let router = slot.router(&"hub".into(), None).await.unwrap();
    assert_eq!(router.shape(ConnectorView::default()).await.unwrap().entries.len(), 1);
    let question = r#"{"upstream":"one","method":"ping","params":{"x":1}}"#;
    let Reply::Answer(text) =
        router.answer(call_with("ann", question, Some(Arc::new(Slow)))).await.unwrap()
    else {
        panic!("no answer")
    };
    assert!(text.contains(r#""method":"ping""#), "{text}");
    // a cancelled call takes its instance along, and the next one is served
    let call = router.answer(call_with("ann", question, Some(Arc::new(Slow))));
    assert!(tokio::time::timeout(Duration::from_millis(20), call).await.is_err());
    assert!(router.answer(call_with("ann", question, None)).await.is_ok());
    assert_eq!(slot.stats()[0].discarded, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bundled_router_shapes_a_connector() {
    let runtime = runtime();
    let spec = bundled::router("router");
    let slot = runtime.load(spec).await.unwrap();
    let router = slot.router(&"hub".into(), None).await.unwrap();
    let upstream = UpstreamView {
        name: "one".into(),
        up: true,
        tools: vec![r#"{"name":"echo","inputSchema":{"type":"object"}}"#.into()],
        settings: "{}".into(),
        ..UpstreamView::default()
    };
    let view = ConnectorView { upstreams: vec![upstream], ..ConnectorView::default() };
    let shaped = router.shape(view).await.unwrap();
    assert!(shaped.entries[0].definition.contains("one_echo"), "{shaped:?}");
}

#[test]
fn a_completion_says_what_it_refers_to() {
    for (reference, said) in [
        (r#"{"type":"ref/prompt","name":"a:b"}"#, "prompt"),
        (r#"{"type":"ref/resource","uri":"{scheme}://a"}"#, "template"),
    ] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{{"ref":{reference}}}}}"#
        );
        let mut call = call("ann", "{}");
        Arc::get_mut(&mut call).unwrap().message = Message::parse(Bytes::from(text)).unwrap();
        assert_eq!(call.attribute("reference"), Some(said));
    }
    assert_eq!(call("ann", "{}").attribute("reference"), None);
}
