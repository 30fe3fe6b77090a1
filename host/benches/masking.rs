//! What the bundled `masking` costs on answers of several sizes, from the pipeline's side: the body crosses into WebAssembly,
//! is read there, and comes back where something was found.
#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to measure")]

use std::sync::Arc;

use bytes::Bytes;
use divan::Bencher;
use divan::counter::BytesCount;
use http::HeaderMap;
use plugway::catalogue::{Catalogue, Hints, View};
use plugway::pipeline::call::{Arguments, Way};
use plugway::pipeline::port::{LocalState, Outcome, Policy, Review};
use plugway::pipeline::status::LiveStatus;
use plugway::pipeline::{CallContext, Caller};
use plugway::plugin::{Runtime, RuntimeOptions, bundled};
use plugway::protocol::{Message, Revision};
use plugway::state::{Memory, Quota};
use tokio::runtime::Runtime as Tokio;

fn main() {
    divan::main();
}

/// Text without anything, as servers send it.
const CLEAN: &str = "2024-05-15T10:30:00Z INFO order 2024-00018273 of 3 items went to node-17 in 12.5 ms;                      id 7f3c2a10-9d8e-4b5f-a6c7-112233445566, see https://example.com/a?b=1 for more. ";

fn policy(tokio: &Tokio) -> (Runtime, Arc<dyn Policy>) {
    let memory = Memory::new(Quota::default());
    let states = move |connector: &str, plugin: &str| -> Arc<dyn LocalState> {
        memory.namespace(connector, plugin)
    };
    let options = RuntimeOptions { cache_dir: None, instances: 8, states: Arc::new(states) };
    tokio.block_on(async {
        let runtime = Runtime::new(options).expect("an engine");
        let mut spec = bundled::masking("masking");
        // What is measured is not to be cut off.
        spec.limits.time = std::time::Duration::from_secs(10);
        let slot = runtime.load(spec).await.expect("it loads");
        let policy = slot.policy(&"hub".into(), Some("{}".into())).await.expect("it is a policy");
        (runtime, policy)
    })
}

fn call() -> Arc<CallContext> {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    Arc::new(CallContext {
        way: Way::FromClient,
        request_id: "r1".into(),
        retry_of: None,
        connector: "hub".into(),
        caller: Arc::new(Caller::anonymous("somebody")),
        view: Arc::new(View::whole(Arc::new(Catalogue::default()))),
        message: Message::parse(Bytes::from_static(text.as_bytes())).expect("a message"),
        name: "echo".into(),
        target: Some(("one".into(), "echo".into())),
        hints: Hints::default(),
        revision: Revision::NEWEST_LEGACY,
        headers: Arc::new(HeaderMap::new()),
        session: None,
        attributes: Vec::new(),
        requester: None,
        handles: Arc::default(),
        status: LiveStatus::default(),
        arguments: Arguments::default(),
        spelling: std::sync::OnceLock::new(),
    })
}

/// A result of so many bytes with so many addresses in it.
fn body(bytes: usize, hits: usize) -> Bytes {
    let parts = hits.max(1);
    let mut text = String::new();
    for _ in 0..parts {
        let more = CLEAN.chars().cycle().take(bytes / parts);
        text.extend(more);
        text.push_str(if hits > 0 { " ann@example.com " } else { "" });
    }
    Bytes::from(format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#))
}

fn review(bencher: Bencher<'_, '_>, bytes: usize, hits: usize) {
    let tokio = Tokio::new().expect("a runtime");
    let (_runtime, policy) = policy(&tokio);
    let (call, body) = (call(), body(bytes, hits));
    let outcome = Outcome { body: body.clone(), is_error: false, latency_us: 0 };
    let answered = tokio.block_on(policy.review(call.clone(), outcome.clone()));
    let found = matches!(answered.expect("it answers"), Review::Replace(_));
    assert_eq!(found, hits > 0, "the body is what it should be");
    bencher
        .counter(BytesCount::new(body.len()))
        .bench_local(|| tokio.block_on(policy.review(call.clone(), outcome.clone())).is_ok());
}

#[divan::bench(args = [1 << 10, 64 << 10, 1 << 20])]
fn clean(bencher: Bencher<'_, '_>, bytes: usize) {
    review(bencher, bytes, 0);
}

#[divan::bench]
fn a_hundred_hits_in_64_kib(bencher: Bencher<'_, '_>) {
    review(bencher, 64 << 10, 100);
}
